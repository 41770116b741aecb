-- What the companion derives from events: where it has got to, who does a step now, which days of a streak count, which metrics
-- move together. All of it can be made again from companion_events; nothing here holds a text of a person.
select set_config('search_path', 'public, extensions', true);

create table if not exists companion_cursors (
    source text primary key,
    watermark jsonb not null default '{}',
    updated_at timestamptz not null default now()
);
comment on table companion_cursors is 'How far each reader of a table has got.';

create table if not exists companion_leases (
    name text primary key,
    owner text not null,
    lease_until timestamptz not null,
    last_at timestamptz not null
);
comment on table companion_leases is 'Which process does a step of the tick, and when it last began: one at a time, at its interval.';

create table if not exists companion_job_runs (
    job text not null,
    day date not null,
    status text not null check (status in ('running', 'done', 'failed')),
    detail jsonb not null default '{}',
    attempts integer not null default 1,
    owner text,
    lease_until timestamptz,
    started_at timestamptz not null default now(),
    finished_at timestamptz,
    primary key (job, day)
);
comment on table companion_job_runs is 'Each step of the daily job by local day.';

create table if not exists companion_streaks (
    id text primary key,
    module text not null,
    label text not null,
    grace integer not null default 1 check (grace >= 0),
    current integer not null default 0,
    longest integer not null default 0,
    last_active date,
    updated_at timestamptz not null default now()
);
comment on table companion_streaks is 'Days in a row; current is as of last_active, whether it still stands depends on the day it is read.';

create table if not exists companion_streak_days (
    streak_id text not null references companion_streaks (id) on delete cascade,
    day date not null,
    value double precision not null,
    threshold double precision not null,
    active boolean not null,
    primary key (streak_id, day)
);
comment on table companion_streak_days is 'A day as it was judged: a goal that is changed later does not change it.';

create table if not exists companion_correlations (
    id text primary key,
    factors jsonb not null,
    r double precision not null,
    p double precision not null,
    n integer not null,
    direction text not null check (direction in ('positive', 'negative')),
    sentence text not null,
    computed_at timestamptz not null,
    shown_at timestamptz
);
comment on table companion_correlations is 'Pairs of daily metrics that move together, of the last computation.';

alter table companion_cursors enable row level security;
alter table companion_leases enable row level security;
alter table companion_job_runs enable row level security;
alter table companion_streaks enable row level security;
alter table companion_streak_days enable row level security;
alter table companion_correlations enable row level security;
revoke all on companion_cursors, companion_leases, companion_job_runs, companion_streaks, companion_streak_days,
    companion_correlations from public, anon, authenticated;
grant all on companion_cursors, companion_leases, companion_job_runs, companion_streaks, companion_streak_days,
    companion_correlations to service_role;

-- Days that are named in the payload: an entry for the day before yesterday is found without reading all since then.
create index if not exists companion_events_type_date_idx on companion_events (type, (payload ->> 'date'))
    where payload ->> 'date' is not null;

create or replace function companion_iso_day(p_text text) returns date
language plpgsql immutable set search_path = public, extensions as $$
begin
    if p_text ~ '^\d{4}-\d{2}-\d{2}' then
        return left(p_text, 10)::date;
    end if;
    return null;
exception when datetime_field_overflow or invalid_datetime_format then
    return null;
end
$$;
comment on function companion_iso_day(text) is 'The day that a payload names, or null where it names none.';

-- What an event adds to a measure: a number as it is, a flag as 0 or 1, anything else null.
create or replace function companion_figure(p_value jsonb) returns double precision
language sql immutable set search_path = public, extensions as $$
    select case jsonb_typeof(p_value)
        when 'number' then p_value::text::double precision
        when 'boolean' then p_value::text::boolean::integer end
$$;
comment on function companion_figure(jsonb) is 'A payload value as a figure: number, or flag as 0 and 1; else null.';

create or replace function companion_daily_metric(
    p_measure jsonb, p_since date, p_until date, p_tz text, p_not_before timestamptz default null
) returns table (day date, value double precision)
language plpgsql stable set search_path = public, extensions as $$
declare
    events text[] := array(select jsonb_array_elements_text(coalesce(p_measure -> 'events', '[]')));
    minus text[] := array(select jsonb_array_elements_text(coalesce(p_measure -> 'minus', '[]')));
    unless text[] := array(select jsonb_array_elements_text(coalesce(p_measure -> 'unless', '[]')));
    wanted jsonb := coalesce(p_measure -> 'where', '{}');
    agg text := coalesce(p_measure ->> 'agg', 'count');
    figure text := p_measure ->> 'value_field';
    day_field text := p_measure ->> 'day_field';
    low timestamptz := p_since::timestamp at time zone p_tz;
    high timestamptz := (p_until + 1)::timestamp at time zone p_tz;
begin
    if agg not in ('count', 'sum', 'avg', 'max', 'p95', 'distinct') then
        raise exception 'no such figure: %', agg using errcode = '22023';
    end if;
    -- A day in the payload may be long before the moment (entered late) or after it (planned): then by that day, for the
    -- events that have none by their moment. Nothing is called per row: a function with settings costs more than its row.
    return query
    with found as (
        select e.type, e.payload, (e.ts at time zone p_tz)::date::text as at_day
        from companion_events e
        where day_field is null and e.type = any (events || minus || unless) and e.ts >= low and e.ts < high
          and (p_not_before is null or e.ts >= p_not_before)
        union all
        select e.type, e.payload, left(e.payload ->> 'date', 10)
        from companion_events e
        where day_field = 'date' and e.type = any (events || minus || unless)
          and e.payload ->> 'date' >= p_since::text and e.payload ->> 'date' < (p_until + 1)::text
        union all
        select e.type, e.payload, (e.ts at time zone p_tz)::date::text
        from companion_events e
        where day_field = 'date' and e.type = any (events || minus || unless) and e.ts >= low and e.ts < high
          and (e.payload ->> 'date' ~ '^\d{4}-\d{2}-\d{2}') is not true
        union all
        select e.type, e.payload, case when e.payload ->> day_field ~ '^\d{4}-\d{2}-\d{2}' then left(e.payload ->> day_field, 10)
                                       else (e.ts at time zone p_tz)::date::text end
        from companion_events e
        where day_field <> 'date' and e.type = any (events || minus || unless) and e.ts >= low - interval '400 days'
    ), told as (
        select f.at_day, f.type = any (events) as adds, f.type = any (minus) as takes, f.type = any (unless) as spoils,
               case jsonb_typeof(f.payload -> figure)
                   when 'number' then (f.payload ->> figure)::double precision
                   when 'boolean' then (f.payload ->> figure)::boolean::integer end as amount,
               f.payload ->> figure as name
        from found f
        where f.at_day >= p_since::text and f.at_day <= p_until::text
          and (wanted = '{}' or f.type = any (unless) or not exists (
              select from jsonb_each_text(wanted) w where f.payload ->> w.key is distinct from w.value))
    ), days as (
        select t.at_day, case agg
            when 'count' then (count(*) filter (where t.adds) - count(*) filter (where t.takes))::double precision
            when 'sum' then coalesce(sum(t.amount) filter (where t.adds), 0)
                            - coalesce(sum(t.amount) filter (where t.takes), 0)
            when 'avg' then avg(t.amount) filter (where t.adds)
            when 'max' then max(t.amount) filter (where t.adds)
            when 'p95' then percentile_cont(0.95) within group (order by t.amount) filter (where t.adds and agg = 'p95')
            when 'distinct' then count(distinct t.name) filter (where t.adds and agg = 'distinct') end as total
        from told t
        group by t.at_day
        having bool_or(t.adds or t.takes) and not bool_or(t.spoils)
    )
    select companion_iso_day(d.at_day), d.total from days d where companion_iso_day(d.at_day) is not null;
end
$$;
comment on function companion_daily_metric is 'One measure by local day; days without an event are left out.';

create or replace function companion_daily_metrics(
    p_measures jsonb, p_since date, p_until date, p_tz text, p_not_before timestamptz default null
) returns json
language sql stable set search_path = public, extensions set statement_timeout = '60s' as $$
    select coalesce(json_object_agg(m.key, (
        select coalesce(json_object_agg(d.day, d.value), '{}')
        from companion_daily_metric(m.value, p_since, p_until, p_tz, p_not_before) d where d.value is not null)), '{}')
    from jsonb_each(p_measures) m
$$;
comment on function companion_daily_metrics is
    'Measures by id, from p_since to p_until (both included): {id: {day: value}}. p_not_before leaves older events out.';

-- What entered the log after a row: the version of everything that is made from it, and which days may have changed.
-- The sequence is given under a lock, so no row can come in below one that was seen.
create or replace function companion_changes(
    p_after bigint, p_tz text default 'UTC', p_fields text[] default '{}', p_limit integer default 5000
) returns json
language sql stable set search_path = public, extensions as $$
    with fresh as (
        select e.seq, e.type, e.payload, (e.ts at time zone p_tz)::date as at_day
        from companion_events e where e.seq > p_after
        order by e.seq limit greatest(1, least(p_limit, 20000))
    ), days as (
        select f.type, '' as field, f.at_day as day from fresh f
        union
        select f.type, n.field, companion_iso_day(f.payload ->> n.field) from fresh f cross join unnest(p_fields) n (field)
    ), grouped as (
        select d.type, d.field, json_agg(d.day order by d.day) as days from days d where d.day is not null group by 1, 2
    )
    select json_build_object(
        'seq', coalesce((select max(seq) from fresh), p_after),
        'head', coalesce((select (value ->> 'seq')::bigint from desk_meta where key = 'events_head'), 0),
        'types', (select coalesce(json_object_agg(g.type, g.fields), '{}')
                  from (select type, json_object_agg(field, days) as fields from grouped group by 1) g))
$$;
comment on function companion_changes is
    'Types and days of the events after p_after: {seq, head, types: {type: {"" or a payload field: [day]}}}.';

create or replace function companion_set_cursor(p_source text, p_watermark jsonb) returns json
language sql set search_path = public, extensions as $$
    insert into companion_cursors as c (source, watermark) values (p_source, p_watermark)
    on conflict (source) do update set updated_at = now(), watermark = case
        -- A place in the log only moves on.
        when (c.watermark ->> 'seq')::bigint > (excluded.watermark ->> 'seq')::bigint then c.watermark
        else excluded.watermark end
    returning row_to_json(c)
$$;
comment on function companion_set_cursor(text, jsonb) is 'Notes how far a reader has got; a seq never goes back.';

create or replace function companion_claim_lease(p_name text, p_owner text, p_every_s double precision, p_lease_s double precision)
returns json
language plpgsql set search_path = public, extensions as $$
declare
    held boolean;
begin
    -- A last_at from the future means that the clock was set back.
    insert into companion_leases as l (name, owner, lease_until, last_at)
    values (p_name, p_owner, clock_timestamp() + make_interval(secs => p_lease_s), clock_timestamp())
    on conflict (name) do update set owner = excluded.owner, lease_until = excluded.lease_until, last_at = excluded.last_at
    where (l.lease_until < clock_timestamp() or l.last_at > clock_timestamp())
      and (l.last_at <= clock_timestamp() - make_interval(secs => p_every_s) or l.last_at > clock_timestamp());
    get diagnostics held = row_count;
    return json_build_object('held', held);
end
$$;
comment on function companion_claim_lease is 'Takes a step for p_lease_s, at most once in p_every_s among all processes.';

create or replace function companion_free_lease(p_name text, p_owner text) returns json
language plpgsql set search_path = public, extensions as $$
declare
    held boolean;
begin
    update companion_leases set lease_until = '-infinity' where name = p_name and owner = p_owner;
    get diagnostics held = row_count;
    return json_build_object('held', held);
end
$$;
comment on function companion_free_lease(text, text) is 'Gives a lease back; the interval still counts from its beginning.';

create or replace function companion_claim_run(
    p_job text, p_day date, p_owner text, p_lease_s double precision, p_max_attempts integer default 3
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    held boolean;
begin
    insert into companion_job_runs as r (job, day, status, owner, lease_until)
    values (p_job, p_day, 'running', p_owner, clock_timestamp() + make_interval(secs => p_lease_s))
    on conflict (job, day) do update set status = 'running', owner = excluded.owner, lease_until = excluded.lease_until,
        attempts = r.attempts + 1, started_at = clock_timestamp(), finished_at = null
    where r.attempts < p_max_attempts and (r.status = 'failed' or (r.status = 'running' and r.lease_until < clock_timestamp()));
    get diagnostics held = row_count;
    return json_build_object('held', held);
end
$$;
comment on function companion_claim_run is 'Begins a step of a day unless it is done, under way, or failed too often.';

create or replace function companion_end_run(p_job text, p_day date, p_owner text, p_status text, p_detail jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    held boolean;
begin
    update companion_job_runs set status = p_status, detail = p_detail, finished_at = clock_timestamp(), lease_until = null
    where job = p_job and day = p_day and owner = p_owner and status = 'running';
    get diagnostics held = row_count;
    return json_build_object('held', held);
end
$$;
comment on function companion_end_run is 'Ends a step that p_owner holds.';

create or replace function companion_job_runs_list(p_limit integer default 50) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(x order by x.day desc, x.started_at desc), '[]')
    from (select r.job, r.day, r.status, r.detail, r.attempts, r.started_at, r.finished_at from companion_job_runs r
          order by r.day desc, r.started_at desc limit greatest(1, least(p_limit, 500))) x
$$;
comment on function companion_job_runs_list(integer) is 'Steps of the daily job, newest first.';

revoke execute on function companion_iso_day, companion_figure, companion_daily_metric, companion_daily_metrics,
    companion_changes, companion_set_cursor, companion_claim_lease, companion_free_lease, companion_claim_run,
    companion_end_run, companion_job_runs_list from public, anon, authenticated;
grant execute on function companion_iso_day, companion_figure, companion_daily_metric, companion_daily_metrics,
    companion_changes, companion_set_cursor, companion_claim_lease, companion_free_lease, companion_claim_run,
    companion_end_run, companion_job_runs_list to service_role;
notify pgrst, 'reload schema';
