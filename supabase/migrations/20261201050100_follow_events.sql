-- What the Activity page asks: events by any filter, those of one request or dialog, and the chain of hashes in slices.
select set_config('search_path', 'public, extensions', true);

create index if not exists companion_events_dialog_idx on companion_events ((payload ->> 'dialog_key'), seq desc)
    where payload ->> 'dialog_key' is not null;
create index if not exists companion_events_request_idx on companion_events ((payload ->> 'request_id'), seq desc)
    where payload ->> 'request_id' is not null;
create index if not exists companion_events_caused_by_idx on companion_events (caused_by) where caused_by is not null;

create or replace function desk_activity(
    p_about text default null, p_app_id text default null, p_type text default null, p_class text default null,
    p_actor_kind text default null, p_since timestamptz default null, p_until timestamptz default null,
    p_types text[] default null, p_limit integer default 50, p_before_seq bigint default null
) returns json
language plpgsql stable set search_path = public, extensions set statement_timeout = '10s' as $$
declare
    k integer := greatest(1, least(coalesce(p_limit, 50), 1000));
    -- p_about: a dialog key, a request, a record, or an event (then also what it led to).
    event uuid := case when p_about ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' then p_about::uuid end;
    result json;
begin
    with found as (
        select e.* from companion_events e
        where (p_about is null or e.record_id = p_about or e.payload ->> 'dialog_key' = p_about
               or e.payload ->> 'request_id' = p_about or e.event_id = event or e.caused_by = event)
          and (p_app_id is null or e.app_id = p_app_id) and (p_type is null or e.type = p_type)
          and (p_types is null or e.type = any (p_types)) and (p_class is null or e.class = p_class)
          and (p_actor_kind is null or e.actor_kind = p_actor_kind)
          and (p_since is null or e.ts >= p_since) and (p_until is null or e.ts < p_until)
          and (p_before_seq is null or e.seq < p_before_seq)
        order by e.seq desc
        limit k + 1
    ), page as (
        select f.* from found f order by f.seq desc limit k
    )
    select json_build_object(
        'rows', (select coalesce(json_agg(page order by page.seq desc), '[]') from page),
        'next_before_seq', case when (select count(*) from found) > k then (select min(seq) from page) end)
    into result;
    return result;
end
$$;
comment on function desk_activity is 'Events, newest first, every filter before the limit; next_before_seq leads on.';

-- The chain from a row on; with a limit a slice of it.
create or replace function companion_verify_slice(p_from_seq bigint default null, p_limit integer default null) returns json
language sql stable security definer set search_path = public, extensions, pg_temp set statement_timeout = '120s' as $$
    with parts as materialized (
        select x.* from (
            (select e.seq as from_seq, e.seq as to_seq, e.prev_hash, e.hash as last_hash,
                    companion_event_intact(e) as intact, true as is_event
             from companion_events e where p_from_seq is null or e.seq >= p_from_seq - 1
             order by e.seq limit p_limit + 2)
            union all
            (select g.from_seq, g.to_seq, g.prev_hash, g.last_hash, true, false
             from companion_event_gaps g where p_from_seq is null or g.to_seq >= p_from_seq - 1
             order by g.from_seq limit p_limit + 2)
        ) x
        -- one before the first, for the link to it
        order by x.from_seq limit p_limit + 1
    ), linked as (
        select p.*, lag(p.to_seq) over w as before_seq, lag(p.last_hash) over w as before_hash
        from parts p window w as (order by p.from_seq)
    ), judged as (
        select l.from_seq, l.is_event,
               case when not l.intact then 'edited'
                    when l.before_seq is null and l.from_seq <> 1 then 'missing'
                    when l.before_seq is null and l.from_seq = 1 and l.prev_hash <> repeat('0', 64) then 'reordered'
                    when l.from_seq <> l.before_seq + 1 then 'missing'
                    when l.prev_hash <> l.before_hash then 'reordered' end as reason,
               case when not l.intact then l.from_seq
                    when l.before_seq is null then least(l.from_seq, greatest(coalesce(p_from_seq, 2) - 1, 1))
                    else least(l.from_seq, l.before_seq + 1) end as bad_seq
        from linked l
    ), reached as (
        select coalesce(max(p.to_seq), coalesce(p_from_seq, 1) - 1) as seq, max(p.from_seq) as last_from from parts p
    ), onward as (
        -- where the next slice begins; null at the end
        select (select min(n.from_seq) from (
            select min(e.seq) as from_seq from companion_events e where e.seq > r.seq
            union all select min(g.from_seq) from companion_event_gaps g where g.from_seq > r.seq) n) as next_seq
        from reached r
    ), tail as (
        select m.seq, m.hash, p.to_seq, p.last_hash
        from (select (value ->> 'seq')::bigint as seq, value ->> 'hash' as hash from desk_meta where key = 'events_head') m
        full join (select to_seq, last_hash from parts order by to_seq desc limit 1) p on true
        where (select next_seq from onward) is null
    ), faults as (
        select bad_seq, reason from judged where reason is not null and (p_from_seq is null or from_seq >= p_from_seq)
        union all
        select coalesce(to_seq, 0) + 1, 'missing' from tail where coalesce(seq, 0) > coalesce(to_seq, 0)
        union all
        select to_seq, 'reordered' from tail where coalesce(seq, 0) < to_seq or (seq = to_seq and hash <> last_hash)
    ), first_fault as (
        select bad_seq, reason from faults order by bad_seq limit 1
    )
    select (jsonb_build_object(
        'ok', not exists (select from faults),
        'checked', (select count(*) from judged where is_event and (p_from_seq is null or from_seq >= p_from_seq)),
        'first_bad_seq', (select bad_seq from first_fault),
        'reason', (select reason from first_fault))
        || case when p_limit is null then '{}' else jsonb_build_object(
            'next_seq', (select seq + 1 from reached, onward where next_seq is not null),
            'events', (select count(*) from companion_events)) end)::json
$$;
comment on function companion_verify_slice(bigint, integer) is
    'Recomputes the chain, with p_limit a slice of it; first_bad_seq and reason (edited, missing, reordered).';

create or replace function companion_verify_chain(p_from_seq bigint default null) returns json
language sql stable security definer set search_path = public, extensions, pg_temp set statement_timeout = '120s' as $$
    select companion_verify_slice(p_from_seq)
$$;
comment on function companion_verify_chain(bigint) is
    'Recomputes the chain; first_bad_seq and reason (edited, missing, reordered).';

revoke execute on function desk_activity, companion_verify_slice, companion_verify_chain from public, anon, authenticated;
grant execute on function desk_activity, companion_verify_slice, companion_verify_chain to service_role;
notify pgrst, 'reload schema';
