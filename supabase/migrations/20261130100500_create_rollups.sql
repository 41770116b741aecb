-- One row per dialog and one per dialog and source, so that lists and status never count chunks. Kept by statement-level
-- triggers on a table that another service writes: they must not fail or slow its writes, whatever state ours are in.
--
-- How: the triggers run as the owner, wait for at most a tenth of a second for a table and half a second for a row (less
-- than the deadlock timeout, so nobody is ever chosen as a victim because of us), lock rows in the order of the key, and
-- answer every error by leaving a fault in desk_meta, under a random key so that no two writers meet there. A fault is
-- committed together with the write that it is about; so a rebuild that sees it also sees that write.
select set_config('search_path', 'public, extensions', true);
select set_config('lock_timeout', '4s', true);

create table if not exists desk_dialogs (
    dialog_key text primary key,
    ru_id text,
    tu_id text,
    favorite_id text,
    chunks integer not null default 0,
    sources jsonb not null default '{}',
    first_at timestamptz,
    last_at timestamptz,
    updated_at timestamptz,
    ru_at timestamptz,
    tu_at timestamptz,
    favorite_at timestamptz
) with (vacuum_truncate = off); -- truncation takes an exclusive lock, which a writer would meet
comment on table desk_dialogs is
    'Rollup of client_memory_chunks per dialog; kept by triggers, see desk_rebuild_rollups.';
comment on column desk_dialogs.last_at is 'Later of the last sent_at and the last note_date (midnight UTC).';
comment on column desk_dialogs.updated_at is 'Latest updated_at of its chunks.';
comment on column desk_dialogs.ru_at is
    'created_at of the row that ru_id was taken from: the newest one that has an id.';
create index if not exists desk_dialogs_last_at_idx on desk_dialogs (last_at desc nulls last, dialog_key);
create index if not exists desk_dialogs_pair_idx on desk_dialogs (ru_id, tu_id);

create table if not exists desk_dialog_sources (
    dialog_key text,
    source text,
    chunks integer not null default 0,
    first_note_date date,
    last_note_date date,
    first_sent_at timestamptz,
    last_sent_at timestamptz,
    last_updated_at timestamptz,
    last_ingest_at timestamptz,
    primary key (dialog_key, source)
) with (vacuum_truncate = off);
comment on table desk_dialog_sources is
    'Rollup of client_memory_chunks per dialog and source, and when an ingest last saw it.';

create sequence if not exists desk_rollup_faults;
comment on sequence desk_rollup_faults is 'Transaction of the last fault that could not even be written to desk_meta.';

alter table desk_dialogs enable row level security;
alter table desk_dialog_sources enable row level security;
revoke all on desk_dialogs, desk_dialog_sources from public, anon, authenticated;
revoke all on sequence desk_rollup_faults from public, anon, authenticated;
grant all on desk_dialogs, desk_dialog_sources to service_role;
grant select on sequence desk_rollup_faults to service_role;

-- The rows of some dialogs (all where p_keys is null), one line per dialog, source and set of ids.
create or replace function desk_raw_groups(p_keys text[] default null)
returns table (dialog_key text, source text, ru_id text, tu_id text, favorite_id text, chunks integer,
               first_note_date date, last_note_date date, first_sent_at timestamptz, last_sent_at timestamptz,
               last_created_at timestamptz, last_updated_at timestamptz)
language plpgsql stable set search_path = public, extensions as $$
#variable_conflict use_column
begin
    -- Two queries: `p_keys is null or ..` would cost the second one its index. The casts are for a table that was there
    -- before with types of its own.
    if p_keys is null then
        return query
        select c.dialog_key::text, c.source::text, c.client_id::text, c.woman_id::text, c.favorite_id::text,
               count(*)::integer, min(c.note_date)::date, max(c.note_date)::date, min(c.sent_at)::timestamptz,
               max(c.sent_at)::timestamptz, max(coalesce(c.created_at, '-infinity'))::timestamptz,
               max(c.updated_at)::timestamptz
        from client_memory_chunks c
        group by 1, 2, 3, 4, 5;
    else
        return query
        select c.dialog_key::text, c.source::text, c.client_id::text, c.woman_id::text, c.favorite_id::text,
               count(*)::integer, min(c.note_date)::date, max(c.note_date)::date, min(c.sent_at)::timestamptz,
               max(c.sent_at)::timestamptz, max(coalesce(c.created_at, '-infinity'))::timestamptz,
               max(c.updated_at)::timestamptz
        from client_memory_chunks c
        where c.dialog_key = any (p_keys)
        group by 1, 2, 3, 4, 5;
    end if;
end
$$;
comment on function desk_raw_groups(text[]) is
    'Chunk counts and dates straight from the rows, by dialog, source and ids.';

-- What the rollup must say, computed from the rows: the one definition that recompute, rebuild and check share.
create or replace function desk_raw_rollups(p_keys text[] default null)
returns table (dialog_key text, source text, chunks integer, first_note_date date, last_note_date date,
               first_sent_at timestamptz, last_sent_at timestamptz, last_updated_at timestamptz, dialog desk_dialogs)
language plpgsql stable set search_path = public, extensions as $$
#variable_conflict use_column
begin
    -- Lines with a source are rows of desk_dialog_sources; a line without one carries the dialog's row of desk_dialogs.
    return query
    with g as materialized (select * from desk_raw_groups(p_keys)),
    s as materialized (
        select g.dialog_key, g.source, sum(g.chunks)::integer as chunks, min(g.first_note_date) as first_note_date,
               max(g.last_note_date) as last_note_date, min(g.first_sent_at) as first_sent_at,
               max(g.last_sent_at) as last_sent_at, max(g.last_updated_at) as last_updated_at
        from g group by 1, 2
    ), d as (
        select s.dialog_key, sum(s.chunks)::integer as chunks, jsonb_object_agg(s.source, s.chunks) as sources,
               least(min(s.first_sent_at), min(s.first_note_date)::timestamp at time zone 'UTC') as first_at,
               greatest(max(s.last_sent_at), max(s.last_note_date)::timestamp at time zone 'UTC') as last_at,
               max(s.last_updated_at) as updated_at
        from s group by 1
    ), ru as (
        select distinct on (g.dialog_key) g.dialog_key, g.ru_id as id, g.last_created_at as at from g
        where g.ru_id <> '' order by g.dialog_key, g.last_created_at desc, g.ru_id desc
    ), tu as (
        select distinct on (g.dialog_key) g.dialog_key, g.tu_id as id, g.last_created_at as at from g
        where g.tu_id <> '' order by g.dialog_key, g.last_created_at desc, g.tu_id desc
    ), fav as (
        select distinct on (g.dialog_key) g.dialog_key, g.favorite_id as id, g.last_created_at as at from g
        where g.favorite_id <> '' order by g.dialog_key, g.last_created_at desc, g.favorite_id desc
    )
    select s.dialog_key, s.source, s.chunks, s.first_note_date, s.last_note_date, s.first_sent_at, s.last_sent_at,
           s.last_updated_at, null::desk_dialogs
    from s
    union all
    select d.dialog_key, null, null, null, null, null, null, null,
           row(d.dialog_key, ru.id, tu.id, fav.id, d.chunks, d.sources, d.first_at, d.last_at, d.updated_at,
               ru.at, tu.at, fav.at)::desk_dialogs
    from d
    left join ru on ru.dialog_key = d.dialog_key
    left join tu on tu.dialog_key = d.dialog_key
    left join fav on fav.dialog_key = d.dialog_key;
end
$$;
comment on function desk_raw_rollups(text[]) is 'What both rollup tables must say about these dialogs, from the rows.';

create or replace function desk_lock_dialogs(p_keys text[]) returns void
language plpgsql set search_path = public, extensions as $$
begin
    -- In the order of the key. The update that never happens locks a row that exists without writing it, and unlike a
    -- plain select it notices that the row has just been deleted and inserts it again.
    insert into desk_dialogs as d (dialog_key)
    select k from unnest(p_keys) k group by k order by k
    on conflict (dialog_key) do update set chunks = d.chunks where false;
end
$$;
comment on function desk_lock_dialogs(text[]) is 'Locks the rollup rows of these dialogs, making them where missing.';

-- The dialogs' rollup from their rows. The caller holds the locks: what others commit before is then seen here, what they
-- commit later waits for us and is added to the result.
create or replace function desk_recompute_rollups(p_keys text[] default null) returns void
language plpgsql set search_path = public, extensions as $$
begin
    with r as materialized (select * from desk_raw_rollups(p_keys)),
    gone_sources as (
        delete from desk_dialog_sources s
        where (p_keys is null or s.dialog_key = any (p_keys))
          and not exists (select from r where r.dialog_key = s.dialog_key and r.source = s.source)
    ), gone_dialogs as (
        delete from desk_dialogs d
        where (p_keys is null or d.dialog_key = any (p_keys))
          and not exists (select from r where r.dialog_key = d.dialog_key)
    ), kept_sources as (
        insert into desk_dialog_sources as s (dialog_key, source, chunks, first_note_date, last_note_date, first_sent_at,
                                              last_sent_at, last_updated_at)
        select r.dialog_key, r.source, r.chunks, r.first_note_date, r.last_note_date, r.first_sent_at, r.last_sent_at,
               r.last_updated_at
        from r where r.source is not null
        order by 1, 2
        on conflict (dialog_key, source) do update set
            chunks = excluded.chunks, first_note_date = excluded.first_note_date,
            last_note_date = excluded.last_note_date, first_sent_at = excluded.first_sent_at,
            last_sent_at = excluded.last_sent_at, last_updated_at = excluded.last_updated_at
        where (s.chunks, s.first_note_date, s.last_note_date, s.first_sent_at, s.last_sent_at, s.last_updated_at)
            is distinct from (excluded.chunks, excluded.first_note_date, excluded.last_note_date, excluded.first_sent_at,
                              excluded.last_sent_at, excluded.last_updated_at)
    )
    insert into desk_dialogs as d
    select (r.dialog).* from r where r.source is null
    order by r.dialog_key
    on conflict (dialog_key) do update set
        ru_id = excluded.ru_id, tu_id = excluded.tu_id, favorite_id = excluded.favorite_id, chunks = excluded.chunks,
        sources = excluded.sources, first_at = excluded.first_at, last_at = excluded.last_at,
        updated_at = excluded.updated_at, ru_at = excluded.ru_at, tu_at = excluded.tu_at,
        favorite_at = excluded.favorite_at
    where d.* is distinct from excluded.*;
end
$$;
comment on function desk_recompute_rollups(text[]) is
    'Writes the rollup of these dialogs (null: of all) from their rows.';

create or replace function desk_note_rollup_fault(p_sqlstate text) returns void
language plpgsql security definer set search_path = public, extensions, pg_temp set lock_timeout = '100ms' as $$
begin
    begin
        insert into desk_meta (key, value)
        values ('rollup_fault:' || gen_random_uuid(), jsonb_build_object('sqlstate', p_sqlstate, 'at', clock_timestamp()));
        return;
    exception when others then
        null; -- desk_meta itself is locked or gone
    end;
    -- A sequence takes no row lock and outlives a rollback. It holds the transaction, so that a rebuild can tell whether
    -- that one had ended when it read the rows.
    perform setval('desk_rollup_faults', greatest(pg_current_xact_id()::text::bigint, last_value)) from desk_rollup_faults;
end
$$;
comment on function desk_note_rollup_fault(text) is 'Marks the rollup stale without waiting for anybody.';

create or replace function desk_rollup_after_insert() returns trigger
language plpgsql security definer set search_path = public, extensions, pg_temp set lock_timeout = '100ms' as $$
declare
    keys text[];
begin
    keys := array(select distinct n.dialog_key from new_rows n);
    if cardinality(keys) = 0 then
        return null;
    end if;
    lock table desk_dialogs, desk_dialog_sources in row exclusive mode;
    perform set_config('lock_timeout', '500ms', true);
    perform desk_lock_dialogs(keys);

    insert into desk_dialog_sources as s (dialog_key, source, chunks, first_note_date, last_note_date, first_sent_at,
                                          last_sent_at, last_updated_at)
    select n.dialog_key, n.source, count(*), min(n.note_date), max(n.note_date), min(n.sent_at), max(n.sent_at),
           max(n.updated_at)
    from new_rows n
    group by 1, 2 order by 1, 2
    on conflict (dialog_key, source) do update set
        chunks = s.chunks + excluded.chunks,
        first_note_date = least(s.first_note_date, excluded.first_note_date),
        last_note_date = greatest(s.last_note_date, excluded.last_note_date),
        first_sent_at = least(s.first_sent_at, excluded.first_sent_at),
        last_sent_at = greatest(s.last_sent_at, excluded.last_sent_at),
        last_updated_at = greatest(s.last_updated_at, excluded.last_updated_at);

    with s as (
        select x.dialog_key, sum(x.chunks)::integer as chunks,
               jsonb_object_agg(x.source, x.chunks) filter (where x.chunks > 0) as sources,
               least(min(x.first_sent_at), min(x.first_note_date)::timestamp at time zone 'UTC') as first_at,
               greatest(max(x.last_sent_at), max(x.last_note_date)::timestamp at time zone 'UTC') as last_at,
               max(x.last_updated_at) as updated_at
        from desk_dialog_sources x where x.dialog_key = any (keys) group by 1
    ), g as materialized (
        select n.dialog_key, n.client_id::text as ru_id, n.woman_id::text as tu_id, n.favorite_id::text,
               max(coalesce(n.created_at, '-infinity')) as at
        from new_rows n group by 1, 2, 3, 4
    ), ru as (
        select distinct on (g.dialog_key) g.dialog_key, g.ru_id as id, g.at from g
        where g.ru_id <> '' order by g.dialog_key, g.at desc, g.ru_id desc
    ), tu as (
        select distinct on (g.dialog_key) g.dialog_key, g.tu_id as id, g.at from g
        where g.tu_id <> '' order by g.dialog_key, g.at desc, g.tu_id desc
    ), fav as (
        select distinct on (g.dialog_key) g.dialog_key, g.favorite_id as id, g.at from g
        where g.favorite_id <> '' order by g.dialog_key, g.at desc, g.favorite_id desc
    ), ids as (
        select s.*, ru.id as ru_id, ru.at as ru_at, tu.id as tu_id, tu.at as tu_at, fav.id as favorite_id,
               fav.at as favorite_at
        from s
        left join ru on ru.dialog_key = s.dialog_key
        left join tu on tu.dialog_key = s.dialog_key
        left join fav on fav.dialog_key = s.dialog_key
    )
    update desk_dialogs d set
        chunks = i.chunks, sources = i.sources, first_at = i.first_at, last_at = i.last_at, updated_at = i.updated_at,
        ru_id = case when d.ru_id is null or (i.ru_at, i.ru_id) > (d.ru_at, d.ru_id) then i.ru_id else d.ru_id end,
        ru_at = case when d.ru_id is null or (i.ru_at, i.ru_id) > (d.ru_at, d.ru_id) then i.ru_at else d.ru_at end,
        tu_id = case when d.tu_id is null or (i.tu_at, i.tu_id) > (d.tu_at, d.tu_id) then i.tu_id else d.tu_id end,
        tu_at = case when d.tu_id is null or (i.tu_at, i.tu_id) > (d.tu_at, d.tu_id) then i.tu_at else d.tu_at end,
        favorite_id = case when d.favorite_id is null or (i.favorite_at, i.favorite_id) > (d.favorite_at, d.favorite_id)
                           then i.favorite_id else d.favorite_id end,
        favorite_at = case when d.favorite_id is null or (i.favorite_at, i.favorite_id) > (d.favorite_at, d.favorite_id)
                           then i.favorite_at else d.favorite_at end
    from ids i where d.dialog_key = i.dialog_key;
    return null;
exception when others then
    begin
        perform desk_note_rollup_fault(sqlstate);
    exception when others then
        null; -- the write goes on whatever is broken here; desk_check_rollups compares with the rows
    end;
    return null;
end
$$;
comment on function desk_rollup_after_insert() is 'Trigger: adds new chunks to the rollup; never fails the write.';

create or replace function desk_rollup_after_update() returns trigger
language plpgsql security definer set search_path = public, extensions, pg_temp set lock_timeout = '100ms' as $$
declare
    keys text[];
    moved boolean;
begin
    keys := array(select n.dialog_key from new_rows n union select o.dialog_key from old_rows o);
    if cardinality(keys) = 0 then
        return null;
    end if;
    lock table desk_dialogs, desk_dialog_sources in row exclusive mode;
    perform set_config('lock_timeout', '500ms', true);
    perform desk_lock_dialogs(keys);

    -- The service writes unchanged rows again at every ingest. Then only the time moves forward, and there is no need to
    -- read the whole dialog.
    select exists (
        select from old_rows o full join new_rows n on n.id = o.id
        where (o.dialog_key, o.source, o.client_id, o.woman_id, o.favorite_id, o.note_date, o.sent_at, o.created_at)
              is distinct from
              (n.dialog_key, n.source, n.client_id, n.woman_id, n.favorite_id, n.note_date, n.sent_at, n.created_at)
           or n.updated_at < o.updated_at or (n.updated_at is null and o.updated_at is not null)
    ) into moved;
    if moved then
        perform desk_recompute_rollups(keys);
        return null;
    end if;

    update desk_dialog_sources s set last_updated_at = greatest(s.last_updated_at, n.at)
    from (select dialog_key, source, max(updated_at) as at from new_rows group by 1, 2) n
    where s.dialog_key = n.dialog_key and s.source = n.source and n.at is not null
      and (s.last_updated_at is null or n.at > s.last_updated_at);
    update desk_dialogs d set updated_at = greatest(d.updated_at, n.at)
    from (select dialog_key, max(updated_at) as at from new_rows group by 1) n
    where d.dialog_key = n.dialog_key and n.at is not null and (d.updated_at is null or n.at > d.updated_at);
    return null;
exception when others then
    begin
        perform desk_note_rollup_fault(sqlstate);
    exception when others then
        null;
    end;
    return null;
end
$$;
comment on function desk_rollup_after_update() is
    'Trigger: follows changed chunks in the rollup; never fails the write.';

create or replace function desk_rollup_after_delete() returns trigger
language plpgsql security definer set search_path = public, extensions, pg_temp set lock_timeout = '100ms' as $$
declare
    keys text[];
begin
    keys := array(select distinct o.dialog_key from old_rows o);
    if cardinality(keys) = 0 then
        return null;
    end if;
    lock table desk_dialogs, desk_dialog_sources in row exclusive mode;
    perform set_config('lock_timeout', '500ms', true);
    perform desk_lock_dialogs(keys);
    perform desk_recompute_rollups(keys);
    return null;
exception when others then
    begin
        perform desk_note_rollup_fault(sqlstate);
    exception when others then
        null;
    end;
    return null;
end
$$;
comment on function desk_rollup_after_delete() is
    'Trigger: takes deleted chunks out of the rollup; never fails the write.';

create or replace function desk_rollup_after_truncate() returns trigger
language plpgsql security definer set search_path = public, extensions, pg_temp set lock_timeout = '100ms' as $$
begin
    delete from desk_dialog_sources;
    delete from desk_dialogs;
    return null;
exception when others then
    begin
        perform desk_note_rollup_fault(sqlstate);
    exception when others then
        null;
    end;
    return null;
end
$$;
comment on function desk_rollup_after_truncate() is
    'Trigger: empties the rollup with the table; never fails the write.';

create or replace trigger desk_rollup_insert after insert on client_memory_chunks
    referencing new table as new_rows for each statement execute function desk_rollup_after_insert();
create or replace trigger desk_rollup_update after update on client_memory_chunks
    referencing old table as old_rows new table as new_rows
    for each statement execute function desk_rollup_after_update();
create or replace trigger desk_rollup_delete after delete on client_memory_chunks
    referencing old table as old_rows for each statement execute function desk_rollup_after_delete();
create or replace trigger desk_rollup_truncate after truncate on client_memory_chunks
    for each statement execute function desk_rollup_after_truncate();

create or replace function desk_rollups_stale() returns boolean
language sql stable set search_path = public, extensions as $$
    select exists (select from desk_meta where key >= 'rollup_fault:' and key < 'rollup_fault;')
        or (select is_called from desk_rollup_faults)
$$;
comment on function desk_rollups_stale() is
    'Whether a write may be missing in the rollup until desk_rebuild_rollups has run.';

create or replace function desk_rebuild_rollups() returns json
language plpgsql security definer set search_path = public, extensions, pg_temp
set lock_timeout = '10s' set statement_timeout = '120s' as $$
begin
    -- First the faults, then the lock, then the rows: a fault that is visible now belongs to a committed write. Writers
    -- that come while we hold the lock leave a new fault, and `stale` says so.
    delete from desk_meta where key >= 'rollup_fault:' and key < 'rollup_fault;';
    lock table desk_dialogs, desk_dialog_sources in share row exclusive mode;
    if (select f.is_called and (f.last_value < pg_snapshot_xmin(s)::text::bigint
                                or f.last_value > pg_snapshot_xmax(s)::text::bigint + 1000000)
        from desk_rollup_faults f, pg_current_snapshot() s) then
        perform setval('desk_rollup_faults', 1, false); -- that transaction has ended, or was one of a restored cluster
    end if;
    perform desk_recompute_rollups(null);
    return json_build_object('dialogs', (select count(*) from desk_dialogs),
                             'sources', (select count(*) from desk_dialog_sources), 'stale', desk_rollups_stale());
end
$$;
comment on function desk_rebuild_rollups() is 'Writes the whole rollup from the rows and clears its faults.';

create or replace function desk_check_rollups() returns json
language sql stable set search_path = public, extensions set statement_timeout = '120s' as $$
    with r as materialized (select * from desk_raw_rollups(null)),
    differing as (
        select coalesce(r.dialog_key, s.dialog_key) as dialog_key
        from (select * from r where source is not null) r
        full join (select * from desk_dialog_sources where chunks <> 0) s
            on s.dialog_key = r.dialog_key and s.source = r.source
        where (r.chunks, r.first_note_date, r.last_note_date, r.first_sent_at, r.last_sent_at, r.last_updated_at)
              is distinct from
              (s.chunks, s.first_note_date, s.last_note_date, s.first_sent_at, s.last_sent_at, s.last_updated_at)
        union
        select coalesce(r.dialog_key, d.dialog_key)
        from (select * from r where source is null) r
        full join desk_dialogs d on d.dialog_key = r.dialog_key
        where r.dialog is distinct from d
    )
    select json_build_object(
        'equal', not exists (select from differing),
        'differing', (select coalesce(json_agg(f.dialog_key), '[]')
                      from (select dialog_key from differing order by 1 limit 50) f),
        'stale', desk_rollups_stale())
$$;
comment on function desk_check_rollups() is 'Compares the rollup with the rows; names at most 50 dialogs that differ.';

revoke execute on function desk_raw_groups, desk_raw_rollups, desk_lock_dialogs, desk_recompute_rollups,
    desk_note_rollup_fault, desk_rollup_after_insert, desk_rollup_after_update, desk_rollup_after_delete,
    desk_rollup_after_truncate, desk_rollups_stale, desk_rebuild_rollups, desk_check_rollups
    from public, anon, authenticated;
grant execute on function desk_raw_groups, desk_raw_rollups, desk_lock_dialogs, desk_recompute_rollups,
    desk_rollups_stale, desk_rebuild_rollups, desk_check_rollups to service_role;
