-- What happened and who did it. Rows enter through one function, which gives the sequence and chains the hashes, so that two
-- processes cannot fork the chain; nobody may update or delete them. Pruning leaves the ends of what it took out in
-- companion_event_gaps, so that the rest still verifies; the head of the chain stands in desk_meta, so that a missing tail
-- is noticed too.
select set_config('search_path', 'public, extensions', true);

create table if not exists companion_events (
    seq bigint primary key,
    prev_hash text not null,
    hash text not null,
    class text not null check (class in ('audit', 'observation')),
    event_id uuid not null unique,
    type text not null check (type <> ''),
    payload jsonb not null default '{}',
    ts timestamptz not null,
    app_id text,
    collection text,
    record_id text,
    user_id text,
    actor jsonb not null,
    actor_kind text,
    mission_id text,
    iteration_id text,
    caused_by uuid,
    created_at timestamptz not null default now()
);
create index if not exists companion_events_app_id_ts_idx on companion_events (app_id, ts);
create index if not exists companion_events_type_ts_idx on companion_events (type, ts);
create index if not exists companion_events_class_ts_idx on companion_events (class, ts);
create index if not exists companion_events_record_id_idx on companion_events (record_id);
create index if not exists companion_events_mission_id_idx on companion_events (mission_id, iteration_id)
    where mission_id is not null;
comment on table companion_events is 'Append-only: what happened, by whom, hash-chained.';

create table if not exists companion_event_gaps (
    from_seq bigint primary key,
    to_seq bigint not null,
    prev_hash text not null,
    last_hash text not null,
    events bigint not null
);
comment on table companion_event_gaps is 'Runs of events that retention took out, with the hashes at both ends.';

alter table companion_events enable row level security;
alter table companion_event_gaps enable row level security;
revoke all on companion_events, companion_event_gaps from public, anon, authenticated, service_role;
grant select on companion_events, companion_event_gaps to service_role;

create or replace function companion_event_hash(e companion_events) returns text
language sql stable set search_path = public, extensions as $$
    -- jsonb's text form is canonical: keys sorted, white space fixed. The moment is written out in UTC, because its own text
    -- form depends on the session.
    select encode(sha256(convert_to(e.prev_hash || jsonb_build_object(
        'seq', e.seq, 'class', e.class, 'event_id', e.event_id, 'type', e.type, 'payload', e.payload,
        'ts', to_char(e.ts at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'app_id', e.app_id,
        'collection', e.collection, 'record_id', e.record_id, 'user_id', e.user_id, 'actor', e.actor,
        'actor_kind', e.actor_kind, 'mission_id', e.mission_id, 'iteration_id', e.iteration_id,
        'caused_by', e.caused_by)::text, 'UTF8')), 'hex')
$$;
comment on function companion_event_hash(companion_events) is
    'SHA-256 over the previous hash and the canonical text of the row.';

create or replace function companion_append_events(p_events jsonb) returns json
language plpgsql security definer set search_path = public, extensions, pg_temp as $$
declare
    given jsonb;
    place bigint;
    e companion_events;
    head_seq bigint;
    head_hash text;
    inserted bigint := 0;
begin
    if jsonb_typeof(p_events) is distinct from 'array' then
        raise exception 'p_events must be an array' using errcode = '22023';
    end if;
    perform pg_advisory_xact_lock(hashtextextended('companion_events', 0));
    select (value ->> 'seq')::bigint, value ->> 'hash' into head_seq, head_hash from desk_meta where key = 'events_head';
    head_seq := coalesce(head_seq, 0);
    head_hash := coalesce(head_hash, repeat('0', 64));

    for given, place in select v, n from jsonb_array_elements(p_events) with ordinality x (v, n) order by n loop
        if given ->> 'class' is null or given ->> 'class' not in ('audit', 'observation')
           or coalesce(given ->> 'type', '') = '' or given ->> 'event_id' is null or given ->> 'ts' is null
           or jsonb_typeof(given -> 'actor') is distinct from 'object' then
            raise exception 'event % lacks a class (audit, observation), type, event_id, ts or actor', place
                using errcode = '22023';
        end if;
        continue when exists (select from companion_events x where x.event_id = (given ->> 'event_id')::uuid);
        e.seq := head_seq + 1;
        e.prev_hash := head_hash;
        e.class := given ->> 'class';
        e.event_id := (given ->> 'event_id')::uuid;
        e.type := given ->> 'type';
        e.payload := coalesce(given -> 'payload', '{}');
        e.ts := (given ->> 'ts')::timestamptz;
        e.app_id := given ->> 'app_id';
        e.collection := given ->> 'collection';
        e.record_id := given ->> 'record_id';
        e.user_id := given ->> 'user_id';
        e.actor := given -> 'actor';
        e.actor_kind := coalesce(given ->> 'actor_kind', e.actor ->> 'kind');
        e.mission_id := coalesce(given ->> 'mission_id', e.actor ->> 'mission_id');
        e.iteration_id := coalesce(given ->> 'iteration_id', e.actor ->> 'iteration_id');
        e.caused_by := (given ->> 'caused_by')::uuid;
        e.created_at := now();
        e.hash := companion_event_hash(e);
        insert into companion_events select e.*;
        head_seq := e.seq;
        head_hash := e.hash;
        inserted := inserted + 1;
    end loop;

    if inserted > 0 then
        insert into desk_meta (key, value) values ('events_head', jsonb_build_object('seq', head_seq, 'hash', head_hash))
        on conflict (key) do update set value = excluded.value;
    end if;
    return json_build_object('inserted', inserted);
end
$$;
comment on function companion_append_events(jsonb) is
    'Appends events in the order given; one that is there already is left out.';

create or replace function companion_query_events(
    p_app_id text default null, p_type text default null, p_since timestamptz default null,
    p_until timestamptz default null, p_record_id text default null, p_actor_kind text default null,
    p_limit integer default 100, p_before_seq bigint default null
) returns json
language plpgsql stable set search_path = public, extensions as $$
declare
    k integer := greatest(1, least(coalesce(p_limit, 100), 1000));
    result json;
begin
    -- Filters before the limit. From p_since on, up to but not including p_until. One row more than asked for says whether
    -- there is a next page.
    with found as (
        select e.* from companion_events e
        where (p_app_id is null or e.app_id = p_app_id) and (p_type is null or e.type = p_type)
          and (p_since is null or e.ts >= p_since) and (p_until is null or e.ts < p_until)
          and (p_record_id is null or e.record_id = p_record_id)
          and (p_actor_kind is null or e.actor_kind = p_actor_kind)
          and (p_before_seq is null or e.seq < p_before_seq)
        order by e.seq desc
        limit k + 1
    ), page as (
        select f.* from found f order by f.seq desc limit k
    )
    select json_build_object(
        'rows', (select coalesce(json_agg(page), '[]') from page),
        'next_before_seq', case when (select count(*) from found) > k then (select min(seq) from page) end)
    into result;
    return result;
end
$$;
comment on function companion_query_events is
    'Events, newest first; at most 1,000 at a time, next_before_seq leads on.';

create or replace function companion_count_events(p_since timestamptz default null, p_until timestamptz default null)
returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_object_agg(type, n order by n desc, type), '{}')
    from (select e.type, count(*) as n from companion_events e
          where (p_since is null or e.ts >= p_since) and (p_until is null or e.ts < p_until) group by 1) t
$$;
comment on function companion_count_events(timestamptz, timestamptz) is 'Number of events by type.';

create or replace function companion_verify_chain(p_from_seq bigint default null) returns json
language sql stable security definer set search_path = public, extensions, pg_temp set statement_timeout = '120s' as $$
    with parts as (
        select e.seq as from_seq, e.seq as to_seq, e.prev_hash, e.hash as last_hash,
               companion_event_hash(e) = e.hash as intact, true as is_event
        from companion_events e where p_from_seq is null or e.seq >= p_from_seq - 1
        union all
        select g.from_seq, g.to_seq, g.prev_hash, g.last_hash, true, false
        from companion_event_gaps g where p_from_seq is null or g.to_seq >= p_from_seq - 1
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
    ), tail as (
        select m.seq, m.hash, p.to_seq, p.last_hash
        from (select (value ->> 'seq')::bigint as seq, value ->> 'hash' as hash from desk_meta where key = 'events_head') m
        full join (select to_seq, last_hash from parts order by to_seq desc limit 1) p on true
    ), faults as (
        select bad_seq, reason from judged where reason is not null and (p_from_seq is null or from_seq >= p_from_seq)
        union all
        select coalesce(to_seq, 0) + 1, 'missing' from tail where coalesce(seq, 0) > coalesce(to_seq, 0)
        union all
        select to_seq, 'reordered' from tail where coalesce(seq, 0) < to_seq or (seq = to_seq and hash <> last_hash)
    ), first_fault as (
        select bad_seq, reason from faults order by bad_seq limit 1
    )
    select json_build_object(
        'ok', not exists (select from faults),
        'checked', (select count(*) from judged where is_event and (p_from_seq is null or from_seq >= p_from_seq)),
        'first_bad_seq', (select bad_seq from first_fault),
        'reason', (select reason from first_fault))
$$;
comment on function companion_verify_chain(bigint) is
    'Recomputes the chain; first_bad_seq and reason (edited, missing, reordered).';

create or replace function companion_prune_events(
    p_observation_days integer default 90, p_observation_max integer default 50000, p_audit_days integer default 400
) returns json
language plpgsql security definer set search_path = public, extensions, pg_temp set statement_timeout = '120s' as $$
declare
    deleted bigint;
begin
    if least(p_observation_days, p_observation_max, p_audit_days) < 0
       or num_nulls(p_observation_days, p_observation_max, p_audit_days) > 0 then
        raise exception 'retention must not be negative or null' using errcode = '22023';
    end if;
    perform pg_advisory_xact_lock(hashtextextended('companion_events', 0));

    -- First by age, then the overflow of observations, oldest first; audit events never by count.
    -- What goes joins the gaps that are there, and gaps that touch become one.
    with doomed as (
        delete from companion_events e
        where (e.class = 'audit' and e.ts < now() - make_interval(days => p_audit_days))
           or (e.class = 'observation' and e.ts < now() - make_interval(days => p_observation_days))
           or (e.class = 'observation' and e.seq in (
               select o.seq from companion_events o
               where o.class = 'observation' and o.ts >= now() - make_interval(days => p_observation_days)
               order by o.seq desc offset p_observation_max))
        returning e.seq, e.prev_hash, e.hash
    ), known as (
        delete from companion_event_gaps g where exists (select from doomed) returning g.*
    ), gaps as (
        select from_seq, to_seq, prev_hash, last_hash, events from known
        union all
        select seq, seq, prev_hash, hash, 1 from doomed
    ), marked as (
        select g.*, coalesce(g.from_seq = lag(g.to_seq) over (order by g.from_seq) + 1, false) as adjoins from gaps g
    ), runs as (
        select m.*, count(*) filter (where not m.adjoins) over (order by m.from_seq) as run from marked m
    ), merged as (
        insert into companion_event_gaps (from_seq, to_seq, prev_hash, last_hash, events)
        select min(from_seq), max(to_seq), (array_agg(prev_hash order by from_seq))[1],
               (array_agg(last_hash order by from_seq desc))[1], sum(events)
        from runs group by run
    )
    select count(*) into deleted from doomed;

    if deleted > 0 then
        insert into desk_meta (key, value)
        select 'events_checkpoint', jsonb_build_object(
            'seq', coalesce(max(to_seq) filter (where from_seq = 1), 0),
            'hash', coalesce(max(last_hash) filter (where from_seq = 1), repeat('0', 64)),
            'gaps', count(*), 'deleted', sum(events), 'at', now())
        from companion_event_gaps
        on conflict (key) do update set value = excluded.value;
    end if;
    return json_build_object('deleted', deleted);
end
$$;
comment on function companion_prune_events is 'Takes out what retention no longer keeps; the rest still verifies.';

revoke execute on function companion_event_hash, companion_append_events, companion_query_events, companion_count_events,
    companion_verify_chain, companion_prune_events from public, anon, authenticated;
grant execute on function companion_event_hash, companion_append_events, companion_query_events, companion_count_events,
    companion_verify_chain, companion_prune_events to service_role;
