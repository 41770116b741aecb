-- Capture, pins and clean-up of snapshots.
select set_config('search_path', 'public, extensions', true);

-- One upsert for the batch. A row that is not ours is left as it is: ours is one that we wrote and nobody else has since.
create or replace function desk_capture_snapshots(p_rows jsonb) returns json
language plpgsql set search_path = public, extensions set statement_timeout = '30s' as $$
declare
    wrong text;
    ids uuid[];
    inserted bigint;
    updated bigint;
    result json;
begin
    if jsonb_typeof(p_rows) is distinct from 'array' then
        raise exception 'p_rows must be an array' using errcode = '22023';
    end if;
    select string_agg(distinct coalesce(r ->> 'entity_type', 'none'), ', ') into wrong from jsonb_array_elements(p_rows) r
    where coalesce(r ->> 'entity_type', '') not in ('dialog', 'note', 'photo', 'profile');
    if wrong is not null then
        raise exception 'entity types that are not captured here: %', wrong using errcode = '22023',
            hint = 'The marker of a finished sync is for the service that syncs to write.';
    end if;

    with given as (
        select distinct on (r.dialog_key, r.sync_date, r.entity_type, r.source_role, r.source_id) r.*
        from rows from (jsonb_to_recordset(p_rows) as (
            sync_date date, dialog_key text, family text, ru_id text, tu_id text, entity_type text, source_role text,
            source_id text, entity_at timestamptz, initiator text, text text, payload jsonb, content_hash text
        )) with ordinality r
        order by r.dialog_key, r.sync_date, r.entity_type, r.source_role, r.source_id, r.ordinality desc
    ), written as (
        insert into tips_daily_entity_snapshots as s (sync_date, dialog_key, family, ru_id, tu_id, entity_type, source_role,
                                                      source_id, entity_at, initiator, text, payload, content_hash)
        select g.sync_date, g.dialog_key, g.family, g.ru_id, g.tu_id, g.entity_type, coalesce(g.source_role, ''),
               coalesce(g.source_id, ''), g.entity_at, g.initiator, g.text, g.payload, g.content_hash
        from given g
        order by g.dialog_key, g.sync_date, g.entity_type, g.source_role, g.source_id
        on conflict (dialog_key, sync_date, entity_type, source_role, source_id) do update set
            family = excluded.family, ru_id = excluded.ru_id, tu_id = excluded.tu_id, entity_at = excluded.entity_at,
            initiator = excluded.initiator, text = excluded.text, payload = excluded.payload,
            content_hash = excluded.content_hash
        where s.content_hash is distinct from excluded.content_hash
          and exists (select from desk_snapshot_origins o
                      where o.snapshot_id = s.id and o.written_by = s.xmin and o.content_hash = s.content_hash)
        returning s.id, s.dialog_key, s.content_hash, s.xmax = 0 as is_new
    ), noted as (
        insert into desk_snapshot_origins as o (snapshot_id, dialog_key, content_hash, written_by)
        select w.id, w.dialog_key, w.content_hash, pg_current_xact_id()::xid from written w
        order by w.id
        on conflict (snapshot_id) do update set
            content_hash = excluded.content_hash, written_by = excluded.written_by, written_at = now()
    )
    select coalesce(array_agg(id), '{}'), count(*) filter (where is_new), count(*) filter (where not is_new)
    into ids, inserted, updated from written;

    with given as (
        select distinct on (r.dialog_key, r.sync_date, r.entity_type, r.source_role, r.source_id) r.*
        from rows from (jsonb_to_recordset(p_rows) as (
            sync_date date, dialog_key text, entity_type text, source_role text, source_id text, content_hash text
        )) with ordinality r
        order by r.dialog_key, r.sync_date, r.entity_type, r.source_role, r.source_id, r.ordinality desc
    ), rest as (
        select g.entity_type, s.content_hash = g.content_hash as equal
        from given g
        join tips_daily_entity_snapshots s
            on s.dialog_key = g.dialog_key and s.sync_date = g.sync_date and s.entity_type = g.entity_type
           and s.source_role = coalesce(g.source_role, '') and s.source_id = coalesce(g.source_id, '')
        where s.id <> all (ids)
    )
    select json_build_object(
        'inserted', inserted, 'updated', updated, 'unchanged', count(*) filter (where equal),
        'kept', count(*) filter (where equal is not true),
        'kept_by_type', coalesce((select json_object_agg(entity_type, n order by entity_type) from (
            select entity_type, count(*) as n from rest where equal is not true group by 1) t), '{}'))
    into result from rest;
    return result;
end
$$;
comment on function desk_capture_snapshots(jsonb) is
    'Writes one batch of snapshots; rows that the service wrote are kept as they are and counted.';

create or replace function desk_pin_snapshot(
    p_id uuid, p_reason text, p_actor jsonb, p_until timestamptz, p_event jsonb
) returns json
language plpgsql set search_path = public, extensions set lock_timeout = '5s' as $$
declare
    key text;
begin
    if p_until is null or p_until <= now() or p_until > now() + interval '90 days' then
        raise exception 'p_until must lie within the next 90 days' using errcode = '22023';
    end if;
    -- Held, so that a clean-up which is about to delete it either has, or waits and then sees the pin.
    select s.dialog_key into key from tips_daily_entity_snapshots s where s.id = p_id for share;
    if not found then
        return json_build_object('found', false);
    end if;
    insert into desk_snapshot_pins (snapshot_id, dialog_key, reason, actor, until)
    values (p_id, key, p_reason, p_actor, p_until)
    on conflict (snapshot_id) do update set
        reason = excluded.reason, actor = excluded.actor, until = excluded.until, pinned_at = now();
    perform companion_append_events(jsonb_build_array(p_event));
    return json_build_object('found', true);
end
$$;
comment on function desk_pin_snapshot is 'Keeps a snapshot until that moment, 90 days away at most, and appends the event.';

create or replace function desk_unpin_snapshot(p_id uuid, p_event jsonb) returns json
language plpgsql set search_path = public, extensions set lock_timeout = '5s' as $$
begin
    delete from desk_snapshot_pins where snapshot_id = p_id;
    if not found then
        return json_build_object('found', false);
    end if;
    perform companion_append_events(jsonb_build_array(p_event));
    return json_build_object('found', true);
end
$$;
comment on function desk_unpin_snapshot(uuid, jsonb) is 'Takes a pin away, and appends the event.';

-- One batch. The rows are locked first, those that a running sync holds are passed over; a second statement then reads their
-- last word and that of the pins, so that neither a pin nor a longer life given in between is missed.
create or replace function desk_cleanup_snapshots(
    p_cutoff timestamptz default null, p_batch integer default 1000, p_event jsonb default null
) returns json
language plpgsql set search_path = public, extensions set lock_timeout = '5s' as $$
declare
    cutoff timestamptz := least(coalesce(p_cutoff, now()), now());
    k integer := least(coalesce(p_batch, 1000), 1000);
    ids uuid[];
    deleted bigint := 0;
    types jsonb;
begin
    if k < 0 then
        raise exception 'p_batch must not be negative' using errcode = '22023';
    end if;
    if k = 0 then -- asked for before the lock: a limit of nothing touches nothing
        return json_build_object('deleted', 0, 'by_type', '{}'::json, 'locked', 0);
    end if;
    ids := array(
        select s.id from tips_daily_entity_snapshots s
        where s.expires_at < cutoff
          and not exists (select from desk_snapshot_pins p where p.snapshot_id = s.id and p.until > now())
        order by s.expires_at, s.id
        limit k for update of s skip locked);
    if cardinality(ids) = 0 then
        return json_build_object('deleted', 0, 'by_type', '{}'::json, 'locked', 0);
    end if;
    -- A hash that the trigger missed goes into the ledger before its row goes.
    insert into desk_snapshot_ledger (dialog_key, entity_type, source_role, source_id, sync_date, content_hash)
    select s.dialog_key, s.entity_type, coalesce(s.source_role, ''), coalesce(s.source_id, ''), s.sync_date, s.content_hash
    from tips_daily_entity_snapshots s
    where s.id = any (ids) and s.content_hash is not null and s.sync_date >= current_date - 366
    order by 1, 2, 3, 4, 5
    on conflict do nothing;
    with gone as (
        delete from tips_daily_entity_snapshots s
        where s.id = any (ids) and s.expires_at < cutoff
          and not exists (select from desk_snapshot_pins p where p.snapshot_id = s.id and p.until > now())
        returning s.id, s.entity_type
    ), counted as (
        select g.entity_type::text as entity_type, count(*) as n from gone g group by 1
    )
    select coalesce(sum(n), 0), coalesce(jsonb_object_agg(entity_type, n), '{}') into deleted, types from counted;
    delete from desk_snapshot_origins o where o.snapshot_id = any (ids)
        and not exists (select from tips_daily_entity_snapshots s where s.id = o.snapshot_id);
    delete from desk_snapshot_pins p where p.snapshot_id = any (ids)
        and not exists (select from tips_daily_entity_snapshots s where s.id = p.snapshot_id);
    if p_event is not null and deleted > 0 then
        perform companion_append_events(jsonb_build_array(jsonb_set(
            p_event, '{payload}', coalesce(p_event -> 'payload', '{}')
                || jsonb_build_object('deleted', deleted, 'by_type', types, 'cutoff', cutoff))));
    end if;
    return json_build_object('deleted', deleted, 'by_type', types, 'locked', cardinality(ids));
end
$$;
comment on function desk_cleanup_snapshots is
    'Deletes one batch (1,000 at most) of snapshots whose expiry is past and that nobody pinned, with the event of it.';

-- The schedule. On a hosted database nothing is deleted by itself until a person has looked at a preview and said yes; the
-- yes, and the last day on which anybody's daily run took the work, stand in desk_meta.
create or replace function desk_cleanup_schedule() returns json
language sql stable security definer set search_path = public, extensions, pg_temp as $$
    select json_build_object(
        'confirmed', (select value from desk_meta where key = 'snapshot_cleanup_confirmed'),
        'last_run', (select value from desk_meta where key = 'snapshot_cleanup_day'),
        'cron', case when to_regprocedure('cron.schedule(text,text,text)') is not null then 'present'
                     when exists (select from pg_available_extensions where name = 'pg_cron') then 'not installed'
                     else 'unavailable' end)
$$;
comment on function desk_cleanup_schedule() is 'Whether the daily clean-up was confirmed, when it ran, and whether pg_cron is here.';

create or replace function desk_confirm_cleanup(p_confirmed boolean, p_actor jsonb, p_event jsonb) returns json
language plpgsql security definer set search_path = public, extensions, pg_temp as $$
declare
    job text := 'memory-desk-snapshot-cleanup';
begin
    if coalesce(p_confirmed, false) then
        insert into desk_meta (key, value)
        values ('snapshot_cleanup_confirmed', jsonb_build_object('at', now(), 'actor', p_actor))
        on conflict (key) do update set value = excluded.value;
    else
        delete from desk_meta where key = 'snapshot_cleanup_confirmed';
    end if;
    if to_regprocedure('cron.schedule(text,text,text)') is not null then
        execute 'select cron.unschedule(jobid) from cron.job where jobname = $1' using job;
        if coalesce(p_confirmed, false) then
            execute 'select cron.schedule($1, $2, $3)' using job, '17 3 * * *', 'call public.desk_run_cleanup()';
        end if;
    end if;
    perform companion_append_events(jsonb_build_array(p_event));
    return desk_cleanup_schedule();
end
$$;
comment on function desk_confirm_cleanup(boolean, jsonb, jsonb) is
    'Says yes or no to the daily clean-up; with pg_cron it is scheduled there.';

create or replace function desk_claim_cleanup(p_day date) returns json
language plpgsql set search_path = public, extensions as $$
declare
    taken boolean;
begin
    -- Compare and set: of several processes one gets the day.
    insert into desk_meta as m (key, value) values ('snapshot_cleanup_day', jsonb_build_object('day', p_day, 'at', now()))
    on conflict (key) do update set value = excluded.value where (m.value ->> 'day')::date < p_day;
    taken := found;
    return json_build_object('taken', taken);
end
$$;
comment on function desk_claim_cleanup(date) is 'Takes the daily run of that day; only the first who asks gets it.';

-- For pg_cron. No `set` here: a procedure with one may not commit, and each batch is a transaction of its own.
create or replace procedure desk_run_cleanup()
language plpgsql as $$
declare
    batch json;
    run text := pg_catalog.gen_random_uuid()::text;
    stop_at timestamptz := pg_catalog.clock_timestamp() + interval '10 minutes';
begin
    if not exists (select from public.desk_meta where key = 'snapshot_cleanup_confirmed') then
        return;
    end if;
    if not (public.desk_claim_cleanup((pg_catalog.now() at time zone 'UTC')::date) ->> 'taken')::boolean then
        return;
    end if;
    loop
        perform public.desk_ledger_catch_up();
        batch := public.desk_cleanup_snapshots(null, 1000, pg_catalog.jsonb_build_object(
            'event_id', pg_catalog.gen_random_uuid(), 'type', 'SnapshotsDeleted', 'class', 'audit', 'app_id', 'snapshots',
            'ts', pg_catalog.clock_timestamp(), 'payload', pg_catalog.jsonb_build_object('run_id', run),
            'actor', '{"kind": "system", "principal_id": "system:rule", "display_name": "pg_cron", "source": "rule"}'::jsonb));
        commit;
        exit when (batch ->> 'deleted')::bigint = 0 or pg_catalog.clock_timestamp() > stop_at;
    end loop;
end
$$;
comment on procedure desk_run_cleanup() is 'The daily clean-up as pg_cron calls it: batch by batch, only once it was confirmed.';

revoke execute on function desk_capture_snapshots, desk_pin_snapshot, desk_unpin_snapshot, desk_cleanup_snapshots,
    desk_cleanup_schedule, desk_confirm_cleanup, desk_claim_cleanup from public, anon, authenticated;
revoke execute on procedure desk_run_cleanup from public, anon, authenticated;
grant execute on function desk_capture_snapshots, desk_pin_snapshot, desk_unpin_snapshot, desk_cleanup_snapshots,
    desk_cleanup_schedule, desk_confirm_cleanup, desk_claim_cleanup to service_role;
grant execute on procedure desk_run_cleanup to service_role;

notify pgrst, 'reload schema';
