-- What the pages read about snapshots. Days are the stored sync_date, never shifted by a zone. A day without rows is missing,
-- which is something else than zero: nothing here makes up a row for it.
select set_config('search_path', 'public, extensions', true);

-- Both days filtered inside, before they meet; the marker of a finished sync is no entity. Rows of before may lack a hash:
-- then the payloads themselves are compared.
create or replace function desk_snapshot_pairs(p_from date, p_to date, p_dialog_key text default null)
returns table (dialog_key text, entity_type text, source_role text, source_id text, from_id uuid, to_id uuid,
               from_hash text, to_hash text, ru_id text, tu_id text, change text)
language plpgsql stable set search_path = public, extensions set plan_cache_mode = 'force_custom_plan' as $$
#variable_conflict use_column
begin
    return query
    select coalesce(a.dialog_key, b.dialog_key)::text, coalesce(a.entity_type, b.entity_type)::text,
           coalesce(a.source_role, b.source_role)::text, coalesce(a.source_id, b.source_id)::text, a.id, b.id,
           a.content_hash::text, b.content_hash::text, coalesce(b.ru_id, a.ru_id)::text, coalesce(b.tu_id, a.tu_id)::text,
           case when a.id is null then 'added' when b.id is null then 'removed'
                when a.content_hash is distinct from b.content_hash then 'changed'
                when a.content_hash is null and a.payload is distinct from b.payload then 'changed'
                else 'unchanged' end
    from (select s.id, s.dialog_key, s.entity_type, s.source_role, s.source_id, s.content_hash, s.ru_id, s.tu_id,
                 case when s.content_hash is null then s.payload end as payload
          from tips_daily_entity_snapshots s
          where s.sync_date = p_from and s.entity_type <> 'daily_sync'
            and (p_dialog_key is null or s.dialog_key = p_dialog_key)) a
    full join (select s.id, s.dialog_key, s.entity_type, s.source_role, s.source_id, s.content_hash, s.ru_id, s.tu_id,
                      case when s.content_hash is null then s.payload end as payload
               from tips_daily_entity_snapshots s
               where s.sync_date = p_to and s.entity_type <> 'daily_sync'
                 and (p_dialog_key is null or s.dialog_key = p_dialog_key)) b
        on b.dialog_key = a.dialog_key and b.entity_type = a.entity_type and b.source_role = a.source_role
       and b.source_id = a.source_id;
end
$$;
comment on function desk_snapshot_pairs(date, date, text) is 'Entities of two days side by side, by identity, then hash.';

create or replace function desk_snapshot_diff(
    p_dialog_key text, p_from date, p_to date, p_limit integer default 500, p_payloads boolean default true
) returns json
language sql stable set search_path = public, extensions as $$
    with pairs as materialized (
        select * from desk_snapshot_pairs(p_from, p_to, p_dialog_key)
    ), page as (
        select p.entity_type, p.source_role, p.source_id, p.change, p.from_id, p.to_id, p.from_hash, p.to_hash,
               case when p_payloads and p.change <> 'added' then a.payload end as before,
               case when p_payloads and p.change <> 'removed' then b.payload end as after
        from (select * from pairs where change <> 'unchanged'
              order by entity_type, source_role, source_id limit greatest(0, least(coalesce(p_limit, 500), 20000))) p
        left join tips_daily_entity_snapshots a on a.id = p.from_id
        left join tips_daily_entity_snapshots b on b.id = p.to_id
    )
    select json_build_object(
        'rows', (select coalesce(json_agg(page order by entity_type, source_role, source_id), '[]') from page),
        'added', count(*) filter (where change = 'added'), 'removed', count(*) filter (where change = 'removed'),
        'changed', count(*) filter (where change = 'changed'), 'unchanged', count(*) filter (where change = 'unchanged'),
        'from_rows', count(from_id), 'to_rows', count(to_id))
    from pairs
$$;
comment on function desk_snapshot_diff is 'What is added, removed and changed in one dialog between two days, with both payloads.';

create or replace function desk_snapshot_diff_days(
    p_from date, p_to date, p_limit integer default 25, p_offset integer default 0
) returns json
language sql stable set search_path = public, extensions as $$
    with dialogs as materialized (
        select p.dialog_key, max(p.ru_id) as ru_id, max(p.tu_id) as tu_id,
               count(*) filter (where p.change = 'added') as added, count(*) filter (where p.change = 'removed') as removed,
               count(*) filter (where p.change = 'changed') as changed,
               count(*) filter (where p.change = 'unchanged') as unchanged,
               count(p.from_id) as from_rows, count(p.to_id) as to_rows
        from desk_snapshot_pairs(p_from, p_to) p
        group by 1
    ), page as (
        select d.* from dialogs d where d.added + d.removed + d.changed > 0
        order by d.added + d.removed + d.changed desc, d.dialog_key
        limit greatest(0, least(coalesce(p_limit, 25), 1000)) offset greatest(0, coalesce(p_offset, 0))
    )
    select json_build_object(
        'rows', (select coalesce(json_agg(page order by added + removed + changed desc, dialog_key), '[]') from page),
        'total', count(*) filter (where added + removed + changed > 0), 'dialogs', count(*),
        'added', coalesce(sum(added), 0), 'removed', coalesce(sum(removed), 0), 'changed', coalesce(sum(changed), 0),
        'unchanged', coalesce(sum(unchanged), 0), 'from_rows', coalesce(sum(from_rows), 0),
        'to_rows', coalesce(sum(to_rows), 0))
    from dialogs
$$;
comment on function desk_snapshot_diff_days is 'The same over all dialogs: totals, and the dialogs with differences, most first.';

-- One line per dialog and day of which anything is known, from the rows and from the ledger that outlives them. A dialog is
-- expected on a day where a sync of it was completed on one of the three days before.
create or replace function desk_snapshot_coverage(p_from date, p_to date, p_dialog_key text default null)
returns table (dialog_key text, sync_date date, entities integer, stored integer, complete boolean, expected boolean)
language plpgsql stable set search_path = public, extensions set plan_cache_mode = 'force_custom_plan' as $$
#variable_conflict use_column
begin
    return query
    with stored as (
        select s.dialog_key::text, s.sync_date::date, count(*) filter (where s.entity_type <> 'daily_sync')::integer as n,
               bool_or(s.entity_type = 'daily_sync') as complete
        from tips_daily_entity_snapshots s
        where s.sync_date between p_from - 3 and p_to and (p_dialog_key is null or s.dialog_key = p_dialog_key)
        group by 1, 2
    ), noted as (
        select l.dialog_key, l.sync_date, count(*) filter (where l.entity_type <> 'daily_sync')::integer as n,
               bool_or(l.entity_type = 'daily_sync') as complete
        from desk_snapshot_ledger l
        where l.sync_date between p_from - 3 and p_to and (p_dialog_key is null or l.dialog_key = p_dialog_key)
        group by 1, 2
    ), known as (
        select coalesce(s.dialog_key, n.dialog_key) as dialog_key, coalesce(s.sync_date, n.sync_date) as sync_date,
               greatest(s.n, n.n) as entities, coalesce(s.n, 0) as stored,
               coalesce(s.complete, false) or coalesce(n.complete, false) as complete
        from stored s full join noted n on n.dialog_key = s.dialog_key and n.sync_date = s.sync_date
    ), expected as (
        select distinct k.dialog_key, k.sync_date + later as sync_date
        from known k cross join generate_series(1, 3) later where k.complete
    )
    select coalesce(k.dialog_key, e.dialog_key), coalesce(k.sync_date, e.sync_date), coalesce(k.entities, 0),
           coalesce(k.stored, 0), coalesce(k.complete, false), e.dialog_key is not null
    from known k full join expected e on e.dialog_key = k.dialog_key and e.sync_date = k.sync_date
    where coalesce(k.sync_date, e.sync_date) between p_from and p_to;
end
$$;
comment on function desk_snapshot_coverage(date, date, text) is 'What is known of each dialog on each day, and whether a sync was due.';

-- Missing: due, the day is over, and nothing came. Partial: something came, without the mark that it was all.
create or replace function desk_snapshot_days(
    p_from date, p_to date, p_dialog_key text default null, p_today date default current_date
) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(d order by d.sync_date), '[]')
    from (select c.sync_date, sum(c.entities) as entities, sum(c.stored) as stored,
                 count(*) filter (where c.entities > 0 or c.complete) as dialogs, count(*) filter (where c.complete) as complete,
                 count(*) filter (where c.expected) as expected,
                 count(*) filter (where c.entities > 0 and not c.complete) as partial,
                 count(*) filter (where c.expected and not c.complete and c.entities = 0 and c.sync_date < p_today) as missing
          from desk_snapshot_coverage(p_from, p_to, p_dialog_key) c
          group by 1) d
$$;
comment on function desk_snapshot_days is
    'Per day: entities, dialogs, syncs complete, partial, missing. Days of which nothing is known are absent.';

create or replace function desk_snapshot_calendar(
    p_from date, p_to date, p_dialog_key text default null, p_limit integer default 25, p_offset integer default 0,
    p_today date default current_date
) returns json
language sql stable set search_path = public, extensions as $$
    with lines as materialized (
        select * from desk_snapshot_coverage(p_from, p_to, p_dialog_key)
    ), dialogs as (
        select l.dialog_key,
               count(*) filter (where l.expected and not l.complete and l.entities = 0 and l.sync_date < p_today) as missing,
               count(*) filter (where l.complete) as complete
        from lines l group by 1
    ), page as (
        select d.* from dialogs d order by d.missing desc, d.dialog_key
        limit greatest(0, least(coalesce(p_limit, 25), 1000)) offset greatest(0, coalesce(p_offset, 0))
    ), shown as (
        select p.dialog_key, p.missing, p.complete,
               (select json_object_agg(l.sync_date, json_build_object(
                           'entities', l.entities, 'stored', l.stored, 'complete', l.complete, 'expected', l.expected)
                       order by l.sync_date)
                from lines l where l.dialog_key = p.dialog_key) as days,
               s.ru_id, s.tu_id
        from page p
        left join lateral (
            select x.ru_id, x.tu_id from tips_daily_entity_snapshots x
            where x.dialog_key = p.dialog_key and x.ru_id is not null limit 1) s on true
    )
    select json_build_object('rows', (select coalesce(json_agg(shown order by missing desc, dialog_key), '[]') from shown),
                             'total', (select count(*) from dialogs))
$$;
comment on function desk_snapshot_calendar is 'Coverage day by day of one page of dialogs, those with missing syncs first.';

-- p_state: null, or expired, expiring (within 24 hours), without_expiry, pinned.
create or replace function desk_snapshot_entities(
    p_date date default null, p_dialog_key text default null, p_entity_type text default null, p_state text default null,
    p_limit integer default 25, p_offset integer default 0, p_id uuid default null
) returns json
language plpgsql stable set search_path = public, extensions set plan_cache_mode = 'force_custom_plan' as $$
declare
    result json;
begin
    if p_state is not null and p_state not in ('expired', 'expiring', 'without_expiry', 'pinned') then
        raise exception 'p_state must be expired, expiring, without_expiry or pinned' using errcode = '22023';
    end if;
    with found as (
        select s.id, s.dialog_key, s.sync_date, s.entity_type, s.source_role, s.source_id, s.expires_at,
               p.until as pinned_until, p.reason as pin_reason, p.actor as pin_actor
        from tips_daily_entity_snapshots s
        left join desk_snapshot_pins p on p.snapshot_id = s.id and p.until > now()
        where (p_id is null or s.id = p_id) and (p_date is null or s.sync_date = p_date)
          and (p_dialog_key is null or s.dialog_key = p_dialog_key)
          and (p_entity_type is null or s.entity_type = p_entity_type)
          and case p_state when 'expired' then s.expires_at < now() and p.snapshot_id is null
                           when 'expiring' then s.expires_at >= now() and s.expires_at < now() + interval '24 hours'
                           when 'without_expiry' then s.expires_at is null
                           when 'pinned' then p.snapshot_id is not null else true end
    ), page as (
        select f.* from found f
        order by case when p_state is not null then f.expires_at end, f.sync_date desc, f.dialog_key, f.entity_type,
                 f.source_role, f.source_id, f.id
        limit greatest(0, least(coalesce(p_limit, 25), 1000)) offset greatest(0, coalesce(p_offset, 0))
    ), shown as (
        select p.*, s.family, s.ru_id, s.tu_id, s.entity_at, s.initiator, s.text, s.payload, s.content_hash, s.created_at,
               s.updated_at,
               exists (select from desk_snapshot_origins o
                       where o.snapshot_id = p.id and o.written_by = s.xmin and o.content_hash = s.content_hash) as ours
        from page p join tips_daily_entity_snapshots s on s.id = p.id
    ), types as (
        select f.entity_type, count(*) as n from found f group by 1
    )
    select json_build_object(
        'rows', (select coalesce(json_agg(shown order by case when p_state is not null then expires_at end, sync_date desc,
                                          dialog_key, entity_type, source_role, source_id, id), '[]') from shown),
        'total', (select coalesce(sum(n), 0) from types),
        'by_type', (select coalesce(json_object_agg(entity_type, n order by entity_type), '{}') from types))
    into result;
    return result;
end
$$;
comment on function desk_snapshot_entities is 'Snapshots of a day, a dialog, a type or a state of expiry, one page of them.';

create or replace function desk_snapshot_history(
    p_dialog_key text, p_entity_type text, p_source_role text, p_source_id text, p_limit integer default 400
) returns json
language sql stable set search_path = public, extensions as $$
    with days as (
        select coalesce(s.sync_date, l.sync_date) as sync_date, coalesce(s.content_hash, l.content_hash) as content_hash,
               s.id, s.payload, s.text, s.expires_at, coalesce(s.updated_at, l.recorded_at) as recorded_at
        from (select * from tips_daily_entity_snapshots
              where dialog_key = p_dialog_key and entity_type = p_entity_type and source_role = p_source_role
                and source_id = p_source_id) s
        full join (select * from desk_snapshot_ledger
                   where dialog_key = p_dialog_key and entity_type = p_entity_type and source_role = p_source_role
                     and source_id = p_source_id) l on l.sync_date = s.sync_date
    ), marked as (
        select d.*, lag(d.sync_date) over w as previous_date,
               d.content_hash is distinct from lag(d.content_hash) over w as changed
        from days d window w as (order by d.sync_date)
    )
    select json_build_object(
        'rows', (select coalesce(json_agg(x order by x.sync_date desc), '[]')
                 from (select m.sync_date, m.content_hash, m.id, m.payload, m.text, m.expires_at, m.recorded_at,
                              m.previous_date, m.changed and m.previous_date is not null as changed
                       from marked m order by m.sync_date desc
                       limit greatest(0, least(coalesce(p_limit, 400), 1000))) x),
        'days', (select count(*) from days), 'stored', (select count(id) from days),
        'changes', (select count(*) from marked where changed and previous_date is not null),
        'first', (select min(sync_date) from days))
$$;
comment on function desk_snapshot_history is 'One entity day by day, newest first: hash, payload while it is stored, whether it changed.';

create or replace function desk_snapshot_expiry(p_cutoff timestamptz default null) returns json
language sql stable set search_path = public, extensions as $$
    -- Expired is what lies before the cutoff, and the cutoff never lies in the future: exactly now is not past.
    with moment as (
        select least(coalesce(p_cutoff, now()), now()) as cutoff
    ), rows as materialized (
        select s.entity_type::text as entity_type, s.expires_at,
               exists (select from desk_snapshot_pins p where p.snapshot_id = s.id and p.until > now()) as pinned
        from tips_daily_entity_snapshots s
        where s.expires_at is null or s.expires_at < now() + interval '24 hours'
    ), expired as (
        select r.* from rows r, moment m where r.expires_at < m.cutoff
    )
    select json_build_object(
        'cutoff', (select cutoff from moment),
        'expired', (select count(*) from expired where not pinned),
        'by_type', (select coalesce(json_object_agg(entity_type, n order by entity_type), '{}')
                    from (select entity_type, count(*) as n from expired where not pinned group by 1) t),
        'oldest', (select min(expires_at) from expired where not pinned),
        'pinned', (select count(*) from desk_snapshot_pins p where p.until > now()
                     and exists (select from tips_daily_entity_snapshots s where s.id = p.snapshot_id)),
        'pinned_expired', (select count(*) from expired where pinned),
        'expiring_24h', (select count(*) from rows, moment where expires_at >= cutoff),
        'without_expiry', (select count(*) from rows where expires_at is null),
        'without_by_type', (select coalesce(json_object_agg(entity_type, n order by entity_type), '{}')
                            from (select entity_type, count(*) as n from rows where expires_at is null group by 1) t),
        'total', (select count(*) from tips_daily_entity_snapshots),
        'first_day', (select min(sync_date) from tips_daily_entity_snapshots),
        'last_day', (select max(sync_date) from tips_daily_entity_snapshots),
        'ledger_faults', (select count(*) from desk_meta where key >= 'ledger_fault:' and key < 'ledger_fault;'))
$$;
comment on function desk_snapshot_expiry(timestamptz) is
    'What clean-up would delete, what expires soon, what has no expiry, what is pinned.';

revoke execute on function desk_snapshot_pairs, desk_snapshot_diff, desk_snapshot_diff_days, desk_snapshot_coverage,
    desk_snapshot_days, desk_snapshot_calendar, desk_snapshot_entities, desk_snapshot_history, desk_snapshot_expiry
    from public, anon, authenticated;
grant execute on function desk_snapshot_pairs, desk_snapshot_diff, desk_snapshot_diff_days, desk_snapshot_coverage,
    desk_snapshot_days, desk_snapshot_calendar, desk_snapshot_entities, desk_snapshot_history, desk_snapshot_expiry
    to service_role;
