-- The ledger is kept by statement-level triggers on a table that another service writes, in the manner of the rollups: as the
-- owner, waiting a tenth of a second at most, in the order of the key, every error answered by a fault in desk_meta. A row
-- that was missed all the same is found by comparison: desk_ledger_catch_up, and the clean-up before it deletes.
select set_config('search_path', 'public, extensions', true);
select set_config('lock_timeout', '4s', true);

create or replace function desk_ledger_after_write() returns trigger
language plpgsql security definer set search_path = public, extensions, pg_temp set lock_timeout = '100ms' as $$
begin
    -- A writer of these rows holds them until it commits, so two writers never meet in the ledger. The casts are for a table
    -- that was there before with types of its own.
    insert into desk_snapshot_ledger as l (dialog_key, entity_type, source_role, source_id, sync_date, content_hash)
    select n.dialog_key::text, n.entity_type::text, coalesce(n.source_role::text, ''), coalesce(n.source_id::text, ''),
           n.sync_date::date, max(n.content_hash::text)
    from new_rows n
    where n.content_hash is not null and n.dialog_key is not null and n.entity_type is not null and n.sync_date is not null
    group by 1, 2, 3, 4, 5
    order by 1, 2, 3, 4, 5
    on conflict (dialog_key, entity_type, source_role, source_id, sync_date) do update
        set content_hash = excluded.content_hash, recorded_at = now()
        where l.content_hash <> excluded.content_hash;
    return null;
exception when others then
    begin
        insert into desk_meta (key, value)
        values ('ledger_fault:' || gen_random_uuid(), jsonb_build_object('sqlstate', sqlstate, 'at', clock_timestamp()));
    exception when others then
        null; -- the write goes on whatever is broken here; desk_ledger_catch_up compares with the rows
    end;
    return null;
end
$$;
comment on function desk_ledger_after_write() is 'Trigger: notes the hashes of written snapshots; never fails the write.';

create or replace trigger desk_ledger_insert after insert on tips_daily_entity_snapshots
    referencing new table as new_rows for each statement execute function desk_ledger_after_write();
create or replace trigger desk_ledger_update after update on tips_daily_entity_snapshots
    referencing new table as new_rows for each statement execute function desk_ledger_after_write();

-- One call does a part that is soon done; `more` asks for another.
create or replace function desk_ledger_catch_up(p_limit integer default 20000, p_keep_days integer default 366) returns json
language plpgsql security definer set search_path = public, extensions, pg_temp
set lock_timeout = '5s' set statement_timeout = '60s' as $$
declare
    k integer := greatest(1, coalesce(p_limit, 20000));
    added bigint;
    corrected bigint;
    removed bigint;
    ids uuid[];
begin
    if p_keep_days is null or p_keep_days < 14 then
        raise exception 'p_keep_days must be 14 or more' using errcode = '22023';
    end if;
    -- First the faults, then the rows: a fault that is visible now belongs to a committed write.
    delete from desk_meta where key >= 'ledger_fault:' and key < 'ledger_fault;';

    -- What is not there. A writer that comes in between has the later word, so on a conflict nothing is done.
    insert into desk_snapshot_ledger (dialog_key, entity_type, source_role, source_id, sync_date, content_hash)
    select s.dialog_key, s.entity_type, coalesce(s.source_role, ''), coalesce(s.source_id, ''), s.sync_date, s.content_hash
    from tips_daily_entity_snapshots s
    where s.content_hash is not null and s.sync_date >= current_date - p_keep_days
      and not exists (
        select from desk_snapshot_ledger l
        where l.dialog_key = s.dialog_key and l.entity_type = s.entity_type and l.source_role = coalesce(s.source_role, '')
          and l.source_id = coalesce(s.source_id, '') and l.sync_date = s.sync_date)
    order by 1, 2, 3, 4, 5
    limit k
    on conflict do nothing;
    get diagnostics added = row_count;

    -- What has another hash there. Held by us the row cannot change, so the second statement reads its last word.
    ids := array(
        select s.id from tips_daily_entity_snapshots s
        join desk_snapshot_ledger l
            on l.dialog_key = s.dialog_key and l.entity_type = s.entity_type and l.source_role = coalesce(s.source_role, '')
           and l.source_id = coalesce(s.source_id, '') and l.sync_date = s.sync_date
        where l.content_hash <> s.content_hash
        limit 1000 for no key update of s skip locked);
    update desk_snapshot_ledger l set content_hash = s.content_hash, recorded_at = now()
    from tips_daily_entity_snapshots s
    where s.id = any (ids) and l.dialog_key = s.dialog_key and l.entity_type = s.entity_type
      and l.source_role = coalesce(s.source_role, '') and l.source_id = coalesce(s.source_id, '')
      and l.sync_date = s.sync_date and l.content_hash <> s.content_hash;
    get diagnostics corrected = row_count;

    delete from desk_snapshot_ledger l where l.ctid in (
        select o.ctid from desk_snapshot_ledger o
        where o.sync_date < current_date - p_keep_days order by o.sync_date limit k for update skip locked);
    get diagnostics removed = row_count;

    return json_build_object('added', added, 'corrected', corrected, 'removed', removed,
                             'more', added = k or removed = k or corrected >= 1000);
end
$$;
comment on function desk_ledger_catch_up(integer, integer) is
    'Notes the hashes that the triggers missed, and drops those older than a year.';

revoke execute on function desk_ledger_after_write, desk_ledger_catch_up from public, anon, authenticated;
grant execute on function desk_ledger_catch_up to service_role;
