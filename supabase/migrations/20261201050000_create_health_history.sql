-- What the health checks found, kept 30 days: a row where a component changed, else one in five minutes. A sample stands for
-- the time until the next one, at most ten minutes: beyond that nobody looked, and the state is unknown.
select set_config('search_path', 'public, extensions', true);
select '[1]'::vector; -- loads the library, so that hnsw.* may be named below

create table if not exists desk_health_checks (
    id bigint generated always as identity primary key,
    at timestamptz not null default now(),
    component text not null check (component <> '' and length(component) <= 60),
    status text not null check (status in ('ok', 'degraded', 'down', 'unknown')),
    code text not null default '' check (length(code) <= 60),
    latency_ms real
);
comment on table desk_health_checks is 'Samples of the health checks; nothing personal in them.';
comment on column desk_health_checks.code is 'The kind of reason: an error''s code, no_answer, slow, or the check''s own name.';
create index if not exists desk_health_checks_component_at_idx on desk_health_checks (component, at desc);
create index if not exists desk_health_checks_at_idx on desk_health_checks (at);

create table if not exists desk_health_states (
    component text primary key,
    status text not null,
    since timestamptz not null
);
comment on table desk_health_states is 'The settled state of each component, as it was last announced.';

alter table desk_health_checks enable row level security;
alter table desk_health_states enable row level security;
revoke all on desk_health_checks, desk_health_states from public, anon, authenticated;
grant all on desk_health_checks, desk_health_states to service_role;

create or replace function desk_note_health(p_rows jsonb, p_every_s integer default 300, p_keep_days integer default 30)
returns json
language plpgsql set search_path = public, extensions set lock_timeout = '2s' as $$
declare
    given record;
    latest desk_health_checks;
    written bigint := 0;
    gone bigint;
begin
    if jsonb_typeof(p_rows) is distinct from 'array' then
        raise exception 'p_rows must be an array' using errcode = '22023';
    end if;
    perform pg_advisory_xact_lock(hashtextextended('desk_health', 0)); -- two processes see each other's samples
    for given in
        select least(coalesce(r.at, now()), now()) as at, r.component, r.status, coalesce(r.code, '') as code, r.latency_ms
        from jsonb_to_recordset(p_rows) r (at timestamptz, component text, status text, code text, latency_ms real)
        where r.at is null or r.at >= now() - make_interval(days => p_keep_days)
        order by 1
    loop
        select * into latest from desk_health_checks c
        where c.component = given.component and c.at <= given.at order by c.at desc, c.id desc limit 1;
        continue when latest.status = given.status and latest.code = given.code
            and latest.at > given.at - make_interval(secs => p_every_s);
        insert into desk_health_checks (at, component, status, code, latency_ms)
        values (given.at, given.component, given.status, given.code, given.latency_ms);
        written := written + 1;
    end loop;
    delete from desk_health_checks c where c.id in (
        select x.id from desk_health_checks x where x.at < now() - make_interval(days => p_keep_days)
        order by x.at limit 1000 for update skip locked);
    get diagnostics gone = row_count;
    return json_build_object('written', written, 'deleted', gone);
end
$$;
comment on function desk_note_health is 'Keeps samples: a change at once, an equal one only after p_every_s; old ones go.';

create or replace function desk_settle_health(p_states jsonb, p_mark boolean default false) returns json
language plpgsql set search_path = public, extensions set lock_timeout = '2s' as $$
declare
    result json;
begin
    if p_mark then
        -- A new process: what is known stands, what is not known yet is no news.
        insert into desk_health_states (component, status, since)
        select r.component, r.status, coalesce(r.since, now())
        from jsonb_to_recordset(p_states) r (component text, status text, since timestamptz)
        order by 1
        on conflict (component) do nothing;
        select coalesce(json_agg(s order by s.component), '[]') into result from desk_health_states s;
        return result;
    end if;
    -- Compare and set, so that of several processes one announces a change.
    with given as (
        select r.component, r.status, coalesce(r.since, now()) as since
        from jsonb_to_recordset(p_states) r (component text, status text, since timestamptz)
    ), written as (
        insert into desk_health_states as s (component, status, since)
        select g.component, g.status, g.since from given g order by g.component
        on conflict (component) do update set status = excluded.status, since = excluded.since
        where s.status <> excluded.status
        returning s.component, s.status, s.since
    )
    select coalesce(json_agg(w order by w.component), '[]') into result from written w;
    return result;
end
$$;
comment on function desk_settle_health(jsonb, boolean) is
    'Which of these settled states are news, each told to one asker; with p_mark all that are known.';

create or replace function desk_health_spans(p_since timestamptz, p_gap_s integer default 600)
returns table (component text, status text, code text, starts timestamptz, ends timestamptz, latency_ms real)
language sql stable set search_path = public, extensions as $$
    -- With one gap of room before p_since, so that what stood at that moment is known.
    select x.component, x.status, x.code, greatest(x.at, p_since),
           least(coalesce(x.next_at, now()), x.at + make_interval(secs => p_gap_s), now()), x.latency_ms
    from (select c.*, lead(c.at) over (partition by c.component order by c.at, c.id) as next_at
          from desk_health_checks c where c.at >= p_since - make_interval(secs => p_gap_s)) x
    where least(coalesce(x.next_at, now()), x.at + make_interval(secs => p_gap_s), now()) > p_since
$$;
comment on function desk_health_spans(timestamptz, integer) is 'Each sample with the time that it stands for.';

create or replace function desk_health_history(p_since timestamptz, p_bucket_s integer default 300, p_gap_s integer default 600)
returns json
language sql stable set search_path = public, extensions set statement_timeout = '10s' as $$
    with spans as materialized (
        select * from desk_health_spans(p_since, p_gap_s)
    ), marked as (
        select s.*, case when s.status = lag(s.status) over w and s.code = lag(s.code) over w
                              and s.starts <= lag(s.ends) over w then 0 else 1 end as begins
        from spans s window w as (partition by s.component order by s.starts, s.ends)
    ), runs as (
        select m.*, sum(m.begins) over (partition by m.component order by m.starts, m.ends) as run from marked m
    ), segments as (
        select r.component, r.status, r.code, min(r.starts) as starts, max(r.ends) as ends from runs r
        where r.ends > r.starts group by r.component, r.run, r.status, r.code
    ), buckets as (
        select s.component, to_timestamp(floor(extract(epoch from s.starts) / p_bucket_s) * p_bucket_s) as at,
               avg(s.latency_ms) as mean, max(s.latency_ms) as most
        from spans s where s.latency_ms is not null and s.status <> 'unknown' group by 1, 2
    )
    select json_build_object(
        'since', p_since, 'until', now(),
        'segments', (select coalesce(json_agg(s order by s.component, s.starts), '[]') from segments s),
        'latency', (select coalesce(json_agg(b order by b.component, b.at), '[]') from buckets b))
$$;
comment on function desk_health_history is 'Runs of one state per component, and latency by bucket of time.';

create or replace function desk_health_uptime(p_hours integer[] default '{24,168,720}') returns json
language sql stable set search_path = public, extensions set statement_timeout = '10s' as $$
    -- up: the share of the known time in which it was not down. Unknown counts for neither side.
    with spans as materialized (
        select s.component, s.status, s.starts, s.ends
        from desk_health_spans(now() - make_interval(hours => (select max(h) from unnest(p_hours) h))) s
    ), times as (
        select h.hours, s.component,
               sum(extract(epoch from s.ends - greatest(s.starts, now() - make_interval(hours => h.hours))))
                   filter (where s.status <> 'unknown') as known_s,
               sum(extract(epoch from s.ends - greatest(s.starts, now() - make_interval(hours => h.hours))))
                   filter (where s.status in ('ok', 'degraded')) as up_s
        from unnest(p_hours) h (hours)
        join spans s on s.ends > now() - make_interval(hours => h.hours)
        group by 1, 2
    )
    select coalesce(json_agg(json_build_object('component', t.component, 'hours', t.hours,
        'known_s', round(coalesce(t.known_s, 0)), 'up_s', round(coalesce(t.up_s, 0))) order by t.component, t.hours), '[]')
    from times t
$$;
comment on function desk_health_uptime(integer[]) is 'Seconds known and seconds up of each component, over these windows.';

create or replace function desk_match_plan() returns json
language plpgsql set search_path = public, extensions as $$
declare
    -- A vector and a key that no row has: the shapes are planned, never run.
    q text := quote_literal('[1' || repeat(',0', 767) || ']');
    found jsonb;
    dialog jsonb;
begin
    -- EXPLAIN is no statement that a `stable` function may run.
    execute format($e$explain (format json) select c.id, c.embedding <=> %s::vector from client_memory_chunks c
        where c.dialog_key = 'health:none' and c.compose_mode in ('reply', 'both')$e$, q) into found;
    dialog := found;
    execute format($e$explain (format json) select c.id from client_memory_chunks c where c.source = 'note'
        and c.embedding_model = (select 'none'::text) order by c.embedding <=> %s::vector limit 24$e$, q) into found;
    return json_build_object(
        'rows', (select greatest(reltuples, 0)::bigint from pg_class where oid = 'client_memory_chunks'::regclass),
        'dialog', json_build_object(
            'nodes', jsonb_path_query_array(dialog, 'strict $.**."Node Type"'),
            'indexes', jsonb_path_query_array(dialog, 'strict $.**."Index Name"')),
        'across', json_build_object(
            'nodes', jsonb_path_query_array(found, 'strict $.**."Node Type"'),
            'indexes', jsonb_path_query_array(found, 'strict $.**."Index Name"')));
end
$$;
comment on function desk_match_plan() is 'How the database would run the two shapes of a search now: node types and indexes.';

create or replace function desk_recall_sample(p_k integer default 10, p_n integer default 5) returns json
language plpgsql set search_path = public, extensions
set hnsw.iterative_scan = 'strict_order' set hnsw.ef_search = '100' set enable_seqscan = off set enable_sort = off
set jit = off set statement_timeout = '30s' as $$
declare
    k integer := greatest(1, least(coalesce(p_k, 10), 50));
    n integer := greatest(1, least(coalesce(p_n, 5), 20));
    picked client_memory_chunks;
    truth double precision[];
    near double precision[];
    hits bigint := 0;
    wanted bigint := 0;
    worst double precision := 1;
    sampled integer := 0;
    began timestamptz;
    exact_ms double precision := 0;
    index_ms double precision := 0;
begin
    -- Sampled stored vectors as queries: the index must find what a full scan finds. By distance, as equal ones are equal.
    for i in 1..n loop
        select * into picked from client_memory_chunks c where c.id >= gen_random_uuid() order by c.id limit 1;
        continue when picked.id is null;
        began := clock_timestamp();
        with d as materialized (
            select c.embedding <=> picked.embedding as distance from client_memory_chunks c
            where c.source = picked.source and c.embedding_model is not distinct from picked.embedding_model
              and c.id <> picked.id
        )
        select array_agg(x.distance order by x.distance) into truth
        from (select d.distance from d where d.distance <> 'NaN' order by d.distance limit k) x;
        exact_ms := exact_ms + extract(epoch from clock_timestamp() - began) * 1000;
        continue when truth is null;
        began := clock_timestamp();
        select array_agg(x.distance) into near
        from (select c.embedding <=> picked.embedding as distance from client_memory_chunks c
              where c.source = picked.source and c.embedding_model is not distinct from picked.embedding_model
                and c.id <> picked.id
              order by c.embedding <=> picked.embedding limit k) x;
        index_ms := index_ms + extract(epoch from clock_timestamp() - began) * 1000;
        sampled := sampled + 1;
        wanted := wanted + cardinality(truth);
        hits := hits + least(cardinality(truth), (
            select count(*) from unnest(near) f (distance) where f.distance <= truth[cardinality(truth)] + 1e-9));
        worst := least(worst, (select count(*) from unnest(near) f (distance)
                               where f.distance <= truth[cardinality(truth)] + 1e-9)::double precision / cardinality(truth));
    end loop;
    return json_build_object(
        'sampled', sampled, 'k', k, 'recall', case when wanted > 0 then round(hits::numeric / wanted, 4) end,
        'worst', case when wanted > 0 then round(worst::numeric, 4) end,
        'exact_ms', case when sampled > 0 then round((exact_ms / sampled)::numeric, 2) end,
        'index_ms', case when sampled > 0 then round((index_ms / sampled)::numeric, 2) end);
end
$$;
comment on function desk_recall_sample(integer, integer) is
    'Share of the true nearest that the vector index finds, for a few stored vectors picked at random. Gives no vector.';

create or replace function desk_health_counts() returns json
language plpgsql stable set search_path = public, extensions set statement_timeout = '5s' as $$
declare
    part json;
    result jsonb := '{}';
begin
    -- What an older database lacks is left out, and its component is absent. Counting stops at 100,000.
    if to_regclass('public.desk_snapshot_pins') is not null then
        execute $q$
            select json_build_object('rows', count(*), 'oldest', min(x.expires_at)) from (
                select s.expires_at from tips_daily_entity_snapshots s
                where s.expires_at < now() and not exists (
                    select from desk_snapshot_pins p where p.snapshot_id = s.id and p.until > now())
                order by s.expires_at limit 100000) x
        $q$ into part;
        result := result || jsonb_build_object('expired', part);
    end if;
    if to_regprocedure('public.desk_usage_stale()') is not null then
        execute 'select to_json(desk_usage_stale())' into part;
        result := result || jsonb_build_object('usage_stale', part);
    end if;
    if to_regclass('public.desk_jobs') is not null then
        execute $q$
            select json_build_object(
                'by_state', (select coalesce(json_object_agg(state, n order by state), '{}')
                             from (select state, count(*) as n from desk_jobs group by 1) t),
                'stuck', count(*) filter (where j.state in ('running', 'cancelling') and coalesce(j.lease_until, j.created_at)
                                                < clock_timestamp() - interval '5 minutes'),
                'waiting', count(*) filter (where j.state = 'queued' and greatest(j.created_at, j.lease_until)
                                                  < clock_timestamp() - interval '15 minutes'),
                -- one that has been done since is no longer news
                'failed', count(*) filter (where j.state = 'failed' and j.finished_at > now() - interval '24 hours'
                    and not exists (select from desk_jobs d where d.kind = j.kind and d.key is not distinct from j.key
                                      and d.state = 'done' and d.finished_at > j.finished_at)),
                'failed_kinds', coalesce(json_agg(distinct j.kind) filter (
                    where j.state = 'failed' and j.finished_at > now() - interval '24 hours'), '[]'))
            from desk_jobs j
        $q$ into part;
        result := result || jsonb_build_object('jobs', part);
    end if;
    return (result || jsonb_build_object('daily', (select m.value from desk_meta m where m.key = 'health_daily')))::json;
end
$$;
comment on function desk_health_counts() is 'Expired snapshots, stale usage totals, jobs, and what the daily checks last found.';

create or replace function desk_keep_daily_check(p_found jsonb) returns json
language sql set search_path = public, extensions as $$
    with kept as (
        insert into desk_meta (key, value) values ('health_daily', p_found || jsonb_build_object('at', now()))
        on conflict (key) do update set value = excluded.value, updated_at = now() returning value
    )
    select value::json from kept
$$;
comment on function desk_keep_daily_check(jsonb) is 'Remembers what the checks found that are too dear for every report.';

revoke execute on function desk_note_health, desk_settle_health, desk_health_spans, desk_health_history, desk_health_uptime,
    desk_match_plan, desk_recall_sample, desk_health_counts, desk_keep_daily_check from public, anon, authenticated;
grant execute on function desk_note_health, desk_settle_health, desk_health_spans, desk_health_history, desk_health_uptime,
    desk_match_plan, desk_recall_sample, desk_health_counts, desk_keep_daily_check to service_role;
notify pgrst, 'reload schema';
