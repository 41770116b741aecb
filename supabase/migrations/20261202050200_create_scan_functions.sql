-- Reading what another service writes straight into its tables, so that it becomes events. Each function gives what the log
-- does not tell yet: rows less what events tell already. So reading twice gives nothing twice, and a row that came in late
-- (a long transaction, a clock that is behind) is given at the next reading.
select set_config('search_path', 'public, extensions', true);
select set_config('client_min_messages', 'warning', true);
select set_config('lock_timeout', '4s', true);

-- As for the other indexes of the service's tables: built where that takes a moment, else the reading takes longer.
do $$
begin
    if (select count(*) <= 2000 from (select from client_memory_chunks limit 2001) few) then
        create index if not exists client_memory_chunks_updated_at_idx on client_memory_chunks (updated_at);
    end if;
    if (select count(*) <= 2000 from (select from tips_daily_entity_snapshots limit 2001) few) then
        create index if not exists tips_daily_entity_snapshots_updated_at_idx on tips_daily_entity_snapshots (updated_at);
    end if;
end
$$;

create or replace function companion_scan_chunks(p_from timestamptz, p_until timestamptz, p_limit integer default 500)
returns json
language sql stable set search_path = public, extensions set statement_timeout = '60s' as $$
    -- What the dashboard itself wrote it has told itself: around those moments rows of that dialog are its own.
    with told as materialized (
        select k.dialog_key, e.ts + interval '30 seconds' as until,
               e.ts - interval '30 seconds' - make_interval(secs => least(3600, coalesce(
                   companion_figure(e.payload -> 'duration_ms'), 0) / 1000)) as since
        from companion_events e
        cross join lateral (values (e.payload ->> 'dialog_key'), (e.payload ->> 'kept_key'), (e.payload ->> 'dropped_key'))
            k (dialog_key)
        where e.type in ('DialogIngested', 'ChunksRestored', 'DialogKeysMerged', 'MergeUndone', 'PhotoDescribed',
                         'ChunksReembedded')
          and e.ts >= p_from - interval '2 hours' and e.ts < p_until + interval '1 hour'
          and e.actor ->> 'source' is distinct from 'stream' and k.dialog_key is not null
    ), counted as (
        select c.dialog_key, date_bin('5 minutes', c.updated_at, 'epoch') as bucket, c.source, c.embedding_model, c.updated_at
        from client_memory_chunks c
        where c.updated_at >= p_from and c.updated_at < p_until and c.metadata ->> 'demo' is distinct from 'true'
          and not exists (select from told t where t.dialog_key = c.dialog_key and c.updated_at between t.since and t.until)
    ), sources as (
        select x.dialog_key, x.bucket, x.source, count(*) as n, max(x.updated_at) as last, max(x.embedding_model) as model
        from counted x group by 1, 2, 3
    ), grouped as (
        select s.dialog_key, s.bucket, sum(s.n) as n, json_object_agg(s.source, s.n) as by_source, max(s.last) as last,
               case when min(s.model) = max(s.model) then max(s.model) end as model
        from sources s group by 1, 2
    ), known as (
        select g.*, coalesce((
            select sum(companion_figure(e.payload -> 'upserted')) from companion_events e
            where e.payload ->> 'dialog_key' is not null and e.payload ->> 'dialog_key' = g.dialog_key
              and e.type = 'DialogIngested' and e.actor ->> 'source' = 'stream'
              and (e.payload ->> 'bucket')::timestamptz = g.bucket), 0)::bigint as already
        from grouped g
    )
    select coalesce(json_agg(k order by k.bucket, k.dialog_key), '[]')
    from (select * from known where n > already order by bucket, dialog_key limit p_limit) k
$$;
comment on function companion_scan_chunks is
    'Chunks by dialog and five minutes that no event tells yet: [{dialog_key, bucket, n, already, by_source, model, last}].';

create or replace function companion_scan_snapshots(
    p_from timestamptz, p_until timestamptz, p_quiet timestamptz, p_limit integer default 200
) returns json
language sql stable set search_path = public, extensions set statement_timeout = '60s' as $$
    -- Dialogs and days that were written to, and not within the last minutes; each with all its rows.
    with touched as materialized (
        select distinct s.dialog_key, s.sync_date from tips_daily_entity_snapshots s
        where s.updated_at >= p_from and s.updated_at < p_until
    ), entities as (
        select s.dialog_key, s.sync_date, s.entity_type, s.family, s.updated_at, s.content_hash, l.content_hash as before
        from touched t
        join tips_daily_entity_snapshots s on s.dialog_key = t.dialog_key and s.sync_date = t.sync_date
        left join lateral (
            select x.content_hash from desk_snapshot_ledger x
            where x.dialog_key = s.dialog_key and x.entity_type = s.entity_type
              and x.source_role = coalesce(s.source_role, '') and x.source_id = coalesce(s.source_id, '')
              and x.sync_date < s.sync_date
            order by x.sync_date desc limit 1) l on true
        where s.entity_type <> 'daily_sync' and not (desk_is_demo_id(s.id) and s.family is not distinct from 'demo')
          and not exists (select from desk_snapshot_origins o
                          where o.snapshot_id = s.id and o.written_by = s.xmin and o.content_hash = s.content_hash)
    ), types as (
        select e.dialog_key, e.sync_date, e.entity_type, max(e.family) as family, count(*) as n, max(e.updated_at) as last,
               count(*) filter (where e.before is null) as fresh,
               count(*) filter (where e.before is not null and e.before <> e.content_hash) as changed,
               count(*) filter (where e.before = e.content_hash) as unchanged
        from entities e group by 1, 2, 3
    ), grouped as (
        select t.dialog_key, t.sync_date, max(t.family) as family, sum(t.n) as n, json_object_agg(t.entity_type, t.n) as by_type,
               sum(t.fresh) as new, sum(t.changed) as changed, sum(t.unchanged) as unchanged, max(t.last) as last
        from types t group by 1, 2 having max(t.last) < p_quiet
    ), known as (
        select g.*, coalesce((
            select sum(companion_figure(e.payload -> 'new') + companion_figure(e.payload -> 'changed')
                       + companion_figure(e.payload -> 'unchanged'))
            from companion_events e
            where e.payload ->> 'dialog_key' is not null and e.payload ->> 'dialog_key' = g.dialog_key
              and e.type = 'SnapshotsSynced' and e.payload ->> 'sync_date' = g.sync_date::text), 0)::bigint as already
        from grouped g
    )
    select coalesce(json_agg(k order by k.sync_date, k.dialog_key), '[]')
    from (select * from known where n > already order by sync_date, dialog_key limit p_limit) k
$$;
comment on function companion_scan_snapshots is
    'Dialogs and days with snapshots that no event tells yet: [{dialog_key, sync_date, n, already, by_type, new, changed, unchanged, last}].';

create or replace function companion_scan_entities(
    p_from timestamptz, p_until timestamptz, p_after_at timestamptz default null, p_after_id uuid default null,
    p_limit integer default 500
) returns json
language sql stable set search_path = public, extensions set statement_timeout = '60s' as $$
    -- Page by page in the order of writing. A marker of a finished sync, or an entity; of one that differs from its day before
    -- also how. Field names alone, never a value.
    with page as materialized (
        select s.id, s.dialog_key, s.sync_date, s.entity_type, coalesce(s.source_role, '') as source_role,
               coalesce(s.source_id, '') as source_id, s.content_hash, s.updated_at, s.payload
        from tips_daily_entity_snapshots s
        where s.updated_at >= p_from and s.updated_at < p_until
          and not (desk_is_demo_id(s.id) and s.family is not distinct from 'demo')
          and (p_after_at is null or (s.updated_at, s.id) > (p_after_at, p_after_id))
        order by s.updated_at, s.id limit p_limit
    ), told as (
        select p.*, l.content_hash as prev_hash, l.sync_date as prev_date, o.payload as before
        from page p
        left join lateral (
            select x.content_hash, x.sync_date from desk_snapshot_ledger x
            where x.dialog_key = p.dialog_key and x.entity_type = p.entity_type and x.source_role = p.source_role
              and x.source_id = p.source_id and x.sync_date < p.sync_date
            order by x.sync_date desc limit 1) l on true
        left join tips_daily_entity_snapshots o
            on l.content_hash <> p.content_hash and o.dialog_key = p.dialog_key and o.sync_date = l.sync_date
           and o.entity_type = p.entity_type and o.source_role = p.source_role and o.source_id = p.source_id
    )
    select json_build_object(
        'last', (select json_build_object('at', p.updated_at, 'id', p.id) from page p order by p.updated_at desc, p.id desc limit 1),
        'read', (select count(*) from page),
        'markers', (select coalesce(json_agg(json_build_object(
            'id', t.id, 'dialog_key', t.dialog_key, 'sync_date', t.sync_date, 'at', t.updated_at,
            'completed_at', t.payload ->> 'completedAt') order by t.updated_at, t.id), '[]')
            from told t where t.entity_type = 'daily_sync'),
        'changes', (select coalesce(json_agg(json_build_object(
            'dialog_key', t.dialog_key, 'sync_date', t.sync_date, 'entity_type', t.entity_type, 'source_role', t.source_role,
            'source_id', t.source_id, 'prev_hash', t.prev_hash, 'new_hash', t.content_hash, 'prev_date', t.prev_date,
            'at', t.updated_at, 'fields', case when jsonb_typeof(t.before) = 'object' and jsonb_typeof(t.payload) = 'object' then (
                select json_agg(distinct k) from (
                    select jsonb_object_keys(t.before) as k union select jsonb_object_keys(t.payload)) f
                where t.before -> k is distinct from t.payload -> k) end) order by t.updated_at, t.id), '[]')
            from told t where t.entity_type <> 'daily_sync' and t.prev_hash <> t.content_hash))
$$;
comment on function companion_scan_entities is
    'A page of written snapshots: {markers, changes, last: {at, id}, read}; prev_hash is that of the latest day before.';

create or replace function companion_scan_tokens(
    p_from timestamptz, p_quiet timestamptz, p_daily_limit integer default 5000, p_limit integer default 500
) returns json
language sql stable set search_path = public, extensions set statement_timeout = '60s' as $$
    with recent as materialized (
        select u.id, u.at, u.request_id, u.dialog_key, coalesce(u.provider, '') as provider, coalesce(u.model, '') as model,
               coalesce(u.phase, '') as phase, coalesce(u.prompt_tokens, 0)::bigint as prompt,
               coalesce(u.completion_tokens, 0)::bigint as completion, coalesce(u.total_tokens, 0)::bigint as total,
               greatest(0, least(coalesce(u.cached_tokens, 0), coalesce(u.prompt_tokens, 0)))::bigint as cached,
               (u.at at time zone 'UTC')::date as day
        from token_usage_log u
        where (u.at >= p_from or u.request_id in (
                  select r.request_id from token_usage_log r where r.at >= p_from and r.request_id is not null))
          and not (desk_is_demo_id(u.id) and u.invite_type is not distinct from 'demo')
    ), logged as materialized (
        select e.record_id, sum(companion_figure(e.payload -> 'calls'))::bigint as calls,
               sum(companion_figure(e.payload -> 'prompt'))::bigint as prompt,
               sum(companion_figure(e.payload -> 'completion'))::bigint as completion,
               sum(companion_figure(e.payload -> 'total'))::bigint as total
        from companion_events e
        where e.type = 'TokensLogged' and e.record_id in (select r.request_id::text from recent r)
        group by 1
    ), days as materialized (
        -- A day with more requests than that is told by the hour from then on, also once its beginning is out of sight.
        select d.day, exists (select from companion_events e
                              where e.type = 'TokensLogged' and companion_figure(e.payload -> 'requests') > 0
                                and e.ts >= d.day::timestamp at time zone 'UTC'
                                and e.ts < (d.day + 1)::timestamp at time zone 'UTC') as by_hour,
               (select count(*) from companion_events e
                       where e.type = 'TokensLogged' and e.payload ->> 'request_id' is not null
                         and e.ts >= d.day::timestamp at time zone 'UTC'
                         and e.ts < (d.day + 1)::timestamp at time zone 'UTC') as told,
               (select count(distinct r.request_id) from recent r
                where r.day = d.day and not exists (select from logged l where l.record_id = r.request_id::text)) as waiting
        from (select distinct day from recent) d
    ), placed as (
        select r.*, case when r.request_id is null or (
                   (d.by_hour or d.told + d.waiting > p_daily_limit)
                   and not exists (select from logged l where l.record_id = r.request_id::text))
               then date_trunc('hour', r.at, 'UTC') end as hour
        from recent r join days d on d.day = r.day
    ), lines as (
        select p.hour, case when p.hour is null then p.request_id end as request_id, p.provider, p.model, p.phase,
               count(*) as calls, sum(p.prompt) as prompt, sum(p.completion) as completion, sum(p.total) as total,
               sum(p.cached) as cached, max(p.at) as last,
               min(p.dialog_key) as dialog_key
        from placed p group by 1, 2, 3, 4, 5
    ), units as (
        select l.hour, l.request_id, sum(l.calls)::bigint as calls, sum(l.prompt)::bigint as prompt,
               sum(l.completion)::bigint as completion, sum(l.total)::bigint as total, max(l.last) as last,
               min(l.dialog_key) as dialog_key,
               (select count(distinct r.request_id) from placed r where r.hour = l.hour) as requests,
               json_agg(json_build_object('provider', l.provider, 'model', l.model, 'phase', l.phase, 'calls', l.calls,
                                          'prompt', l.prompt, 'completion', l.completion, 'total', l.total,
                                          'cached', l.cached)) as lines
        from lines l group by 1, 2
    ), known as (
        select u.*, coalesce(g.calls, h.calls, 0) as already, coalesce(g.prompt, h.prompt, 0) as already_prompt,
               coalesce(g.completion, h.completion, 0) as already_completion, coalesce(g.total, h.total, 0) as already_total
        from units u
        left join logged g on g.record_id = u.request_id::text
        left join lateral (
            select sum(companion_figure(e.payload -> 'calls'))::bigint as calls,
                   sum(companion_figure(e.payload -> 'prompt'))::bigint as prompt,
                   sum(companion_figure(e.payload -> 'completion'))::bigint as completion,
                   sum(companion_figure(e.payload -> 'total'))::bigint as total
            from companion_events e
            where u.hour is not null and e.type = 'TokensLogged' and (e.payload ->> 'hour')::timestamptz = u.hour
              and e.ts >= u.hour and e.ts < u.hour + interval '1 hour') h on true
    )
    select coalesce(json_agg(k order by k.last, k.request_id), '[]')
    from (select * from known
          where calls > already and (case when hour is null then last else hour + interval '1 hour' end) <= p_quiet
          order by last, request_id limit p_limit) k
$$;
comment on function companion_scan_tokens is
    'Requests (on busy days and without a request: hours) with calls that no event tells yet, once they have been quiet.';

create or replace function companion_scan_commit(p_events jsonb) returns json
language plpgsql security definer set search_path = public, extensions, pg_temp as $$
declare
    fresh jsonb;
begin
    -- The lock of companion_append_events, taken first: what is new here is still new there.
    perform pg_advisory_xact_lock(hashtextextended('companion_events', 0));
    select coalesce(jsonb_agg(e order by n), '[]') into fresh
    from (select distinct on (v ->> 'event_id') v as e, n from jsonb_array_elements(p_events) with ordinality x (v, n)
          order by v ->> 'event_id', n) given
    where not exists (select from companion_events k where k.event_id = (given.e ->> 'event_id')::uuid);
    perform companion_append_events(fresh);
    return json_build_object('inserted', (select coalesce(json_agg(e ->> 'event_id'), '[]') from jsonb_array_elements(fresh) e));
end
$$;
comment on function companion_scan_commit(jsonb) is 'Appends those of these events that are not there, and says which these were.';

revoke execute on function companion_scan_chunks, companion_scan_snapshots, companion_scan_entities, companion_scan_tokens,
    companion_scan_commit from public, anon, authenticated;
grant execute on function companion_scan_chunks, companion_scan_snapshots, companion_scan_entities, companion_scan_tokens,
    companion_scan_commit to service_role;
notify pgrst, 'reload schema';
