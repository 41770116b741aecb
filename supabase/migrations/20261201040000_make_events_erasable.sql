-- A person can be erased, and the log of events still verifies. The chain no longer covers what an event says, but the salted
-- hash of that: an erasure takes the words and the salt and leaves the hash, from which nothing can be guessed any more. Which
-- erasure took them stands in the row, and an erased row that no erasure accounts for is found like any other damage.
select set_config('search_path', 'public, extensions', true);

create table if not exists desk_erasures (
    id uuid primary key default gen_random_uuid(),
    salt text not null,
    key_hashes text[] not null,
    reason text not null check (reason in ('request', 'legal', 'mistake', 'test', 'other')),
    actor jsonb not null,
    event_id uuid not null,
    counts jsonb not null default '{}',
    erased_at timestamptz not null default now()
);
alter table desk_erasures enable row level security;
revoke all on desk_erasures from public, anon, authenticated, service_role;
grant select on desk_erasures to service_role;
comment on table desk_erasures is 'That a person was erased, when, by whom and why; holds nothing of the person.';
comment on column desk_erasures.key_hashes is
    'SHA-256 of salt and dialog key: tells whether a key that is written was erased, and does not tell the key.';

create or replace function desk_salted(p_salt text, p_key text) returns text
language sql immutable set search_path = public, extensions as $$
    select encode(sha256(convert_to(p_salt || ':' || p_key, 'UTF8')), 'hex')
$$;
comment on function desk_salted(text, text) is 'The hash under which an erasure remembers a dialog key.';

create or replace function desk_erased_at(p_dialog_key text) returns timestamptz
language sql stable security definer set search_path = public, extensions, pg_temp as $$
    select max(x.erased_at) from desk_erasures x where desk_salted(x.salt, p_dialog_key) = any (x.key_hashes)
$$;
comment on function desk_erased_at(text) is 'When the dialog with this key was last erased, or null.';

-- Before the definition changes: was the chain whole?
do $$
declare
    found json;
begin
    if not exists (select from pg_attribute where attrelid = 'companion_events'::regclass and attname = 'content_hash') then
        found := companion_verify_chain();
        if (found ->> 'checked')::bigint > 0 then
            insert into desk_meta (key, value) values ('events_rehashed', found::jsonb || jsonb_build_object('at', now()))
            on conflict (key) do update set value = excluded.value;
        end if;
    end if;
end
$$;

alter table companion_events
    add column if not exists salt text,
    add column if not exists content_hash text,
    add column if not exists erased_by uuid;
comment on column companion_events.content_hash is 'SHA-256 over salt, payload, record_id and the reason an AI gave.';
comment on column companion_events.erased_by is 'The event of the erasure that took payload, record_id and salt.';

create or replace function companion_event_content(e companion_events) returns text
language sql stable set search_path = public, extensions as $$
    select encode(sha256(convert_to(coalesce(e.salt, '') || jsonb_build_object(
        'payload', e.payload, 'record_id', e.record_id, 'rationale', e.actor -> 'rationale')::text, 'UTF8')), 'hex')
$$;
comment on function companion_event_content(companion_events) is 'SHA-256 over the part of an event that an erasure may take.';

create or replace function companion_event_hash(e companion_events) returns text
language sql stable set search_path = public, extensions as $$
    -- jsonb's text form is canonical: keys sorted, white space fixed. The moment is written out in UTC, because its own text
    -- form depends on the session.
    select encode(sha256(convert_to(e.prev_hash || jsonb_build_object(
        'seq', e.seq, 'class', e.class, 'event_id', e.event_id, 'type', e.type, 'content', e.content_hash,
        'ts', to_char(e.ts at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'app_id', e.app_id,
        'collection', e.collection, 'user_id', e.user_id, 'actor', e.actor - 'rationale',
        'actor_kind', e.actor_kind, 'mission_id', e.mission_id, 'iteration_id', e.iteration_id,
        'caused_by', e.caused_by)::text, 'UTF8')), 'hex')
$$;
comment on function companion_event_hash(companion_events) is
    'SHA-256 over the previous hash and the row, its content by hash.';

-- Rows written under the former definition, in the order of the chain; gaps keep their ends, and what follows them.
do $$
declare
    part record;
    e companion_events;
    head text := repeat('0', 64);
begin
    if not exists (select from companion_events where content_hash is null) then
        return;
    end if;
    lock table companion_events in exclusive mode;
    for part in
        select x.seq, null::bigint as gap from companion_events x
        union all select g.from_seq, g.from_seq from companion_event_gaps g
        order by 1
    loop
        if part.gap is not null then
            update companion_event_gaps set prev_hash = head where from_seq = part.gap returning last_hash into head;
            continue;
        end if;
        select * into e from companion_events where seq = part.seq;
        e.salt := replace(gen_random_uuid()::text, '-', '');
        e.prev_hash := head;
        e.content_hash := companion_event_content(e);
        e.hash := companion_event_hash(e);
        update companion_events set salt = e.salt, prev_hash = e.prev_hash, content_hash = e.content_hash, hash = e.hash
        where seq = e.seq;
        head := e.hash;
    end loop;
    update desk_meta set value = value || jsonb_build_object('hash', head) where key = 'events_head';
end
$$;
alter table companion_events alter column content_hash set not null;

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
        -- An event of the time before, which waited on some disk while its person was erased, arrives without its words.
        e.erased_by := (
            select x.event_id from desk_erasures x
            where x.erased_at > e.ts and (
                desk_salted(x.salt, e.record_id) = any (x.key_hashes)
                or exists (select from jsonb_path_query(e.payload, '$.** ? (@.type() == "string")') v
                           where desk_salted(x.salt, v #>> '{}') = any (x.key_hashes)))
            order by x.erased_at limit 1);
        if e.erased_by is not null then
            e.payload := '{"erased": true}';
            e.record_id := null;
            e.actor := e.actor - 'rationale';
        end if;
        e.salt := replace(gen_random_uuid()::text, '-', '');
        e.content_hash := companion_event_content(e);
        if e.erased_by is not null then
            e.salt := null;
        end if;
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

create or replace function companion_event_intact(e companion_events) returns boolean
language sql stable security definer set search_path = public, extensions, pg_temp as $$
    select companion_event_hash(e) = e.hash and case
        when e.erased_by is null then companion_event_content(e) = e.content_hash
        else e.payload = '{"erased": true}' and e.record_id is null and e.salt is null and not e.actor ? 'rationale'
             and exists (select from companion_events x where x.event_id = e.erased_by and x.type = 'DialogErased') end
$$;
comment on function companion_event_intact(companion_events) is
    'Whether a row says what it said when it entered, or was erased by an erasure that is in the log.';

create or replace function companion_verify_chain(p_from_seq bigint default null) returns json
language sql stable security definer set search_path = public, extensions, pg_temp set statement_timeout = '120s' as $$
    with parts as (
        select e.seq as from_seq, e.seq as to_seq, e.prev_hash, e.hash as last_hash,
               companion_event_intact(e) as intact, true as is_event
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
        select coalesce(to_seq, 0) + 1, 'missing' from tail where seq is distinct from to_seq and coalesce(seq, 0) > coalesce(to_seq, 0)
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

revoke execute on function desk_salted, desk_erased_at, companion_event_content, companion_event_intact
    from public, anon, authenticated;
grant execute on function desk_salted, desk_erased_at, companion_event_content, companion_event_intact to service_role;
