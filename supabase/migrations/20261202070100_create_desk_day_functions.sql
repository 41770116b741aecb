-- What the companion asks of the product's own parts, for one local day: counts and shares, from rollups and from the log.
select set_config('search_path', 'public, extensions', true);

-- States that no row keeps (how many snapshots were expired at the end of a day) are noted while the day lasts.
create table if not exists companion_day_figures (
    name text not null check (name <> ''),
    day date not null,
    value double precision not null,
    noted_at timestamptz not null,
    primary key (name, day)
);
comment on table companion_day_figures is 'Figures of a day that cannot be counted afterwards; the last one noted stands. 400 days.';
alter table companion_day_figures enable row level security;
revoke all on companion_day_figures from public, anon, authenticated;
grant all on companion_day_figures to service_role;

create or replace function companion_note_figures(p_day date, p_values jsonb, p_at timestamptz) returns json
language plpgsql set search_path = public, extensions as $$
begin
    delete from companion_day_figures where day < p_day - 400;
    insert into companion_day_figures as f (name, day, value, noted_at)
    select v.key, p_day, v.value::text::double precision, p_at from jsonb_each(p_values) v order by v.key
    on conflict (name, day) do update set value = excluded.value, noted_at = excluded.noted_at
        where f.noted_at <= excluded.noted_at;
    return json_build_object('noted', (select count(*) from jsonb_each(p_values)));
end
$$;
comment on function companion_note_figures is 'Notes figures of a day; a later note replaces an earlier one.';

create or replace function companion_latest_figures(p_names text[]) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_object_agg(f.name, json_build_object('value', f.value, 'at', f.noted_at, 'day', f.day)), '{}')
    from unnest(p_names) n
    cross join lateral (select * from companion_day_figures x where x.name = n order by x.day desc limit 1) f
$$;
comment on function companion_latest_figures(text[]) is 'The figures last noted, by name: value, at, day.';

create or replace function companion_figure_days(p_name text, p_since date, p_until date) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_object_agg(f.day, f.value), '{}') from companion_day_figures f
    where f.name = p_name and f.day between p_since and p_until
$$;
comment on function companion_figure_days is 'One figure by day.';

-- The memory on a day (p_from up to p_to), and in the hour before p_now. Totals are those of the rollup.
create or replace function companion_memory_day(p_from timestamptz, p_to timestamptz, p_now timestamptz) returns json
language plpgsql stable set search_path = public, extensions
set plan_cache_mode = 'force_custom_plan' set statement_timeout = '10s' as $$
declare
    found json;
begin
    with searches as materialized (
        select e.ts, companion_figure(e.payload -> 'latency_ms') as ms, e.payload ->> 'fallback' = 'true' as fallback,
               e.payload ->> 'results' = '0' as empty
        from companion_events e
        where e.type = 'SearchPerformed' and e.erased_by is null
          and e.ts >= least(p_from, p_now - interval '1 hour') and e.ts < greatest(p_to, p_now)
    ), day as (
        select count(*) as n, count(*) filter (where fallback) as fallbacks, count(*) filter (where empty) as empty,
               percentile_cont(0.5) within group (order by ms) as p50, percentile_cont(0.95) within group (order by ms) as p95
        from searches where ts >= p_from and ts < p_to
    ), hour as (
        select count(*) as n, count(*) filter (where fallback) as fallbacks,
               percentile_cont(0.95) within group (order by ms) as p95
        from searches where ts >= p_now - interval '1 hour' and ts < p_now
    ), counts as (
        select count(*) filter (where e.type = 'DialogIngested') as ingests,
               count(*) filter (where e.type = 'WrongContextReported') as reports
        from companion_events e
        where e.type in ('DialogIngested', 'WrongContextReported') and e.ts >= p_from and e.ts < p_to
    )
    select json_build_object(
        'searches', day.n, 'fallbacks', day.fallbacks, 'empty', day.empty, 'p50_ms', round(day.p50::numeric, 1),
        'p95_ms', round(day.p95::numeric, 1), 'ingests', counts.ingests, 'wrong_context', counts.reports,
        'hour', json_build_object('searches', hour.n, 'fallbacks', hour.fallbacks, 'p95_ms', round(hour.p95::numeric, 1)),
        'dialogs', (select count(*) from desk_dialogs where chunks > 0),
        'by_source', (select coalesce(json_object_agg(source, n order by source), '{}') from (
            select source, sum(chunks)::bigint as n from desk_dialog_sources where chunks > 0 group by 1) s),
        -- Written by somebody else than this dashboard: the scanner found them.
        'written_elsewhere_6h', (select count(*) from companion_events e
            where e.type = 'DialogIngested' and e.actor ->> 'principal_id' = 'system:stream'
              and e.ts >= p_now - interval '6 hours' and e.ts < p_now),
        -- Searched in vain although snapshots of it came: it was never ingested.
        'never_ingested', (select coalesce(json_agg(d.key order by d.key), '[]') from (
            select distinct e.payload ->> 'dialog_key' as key from companion_events e
            where e.type = 'SearchEmpty' and e.ts >= p_from and e.ts < p_to and e.payload ->> 'dialog_key' is not null
            limit 50) d
            where not exists (select from desk_dialogs x where x.dialog_key = d.key and x.chunks > 0)
              and exists (select from tips_daily_entity_snapshots s where s.dialog_key = d.key and s.entity_type <> 'daily_sync')))
    into found from day, hour, counts;
    return found;
end
$$;
comment on function companion_memory_day is 'Searches, their latency, ingests and reports of a day, the last hour of searches, totals.';

-- What takes a look at every chunk: asked seldom, and noted.
create or replace function companion_memory_state(p_model text) returns json
language sql stable set search_path = public, extensions set statement_timeout = '30s' as $$
    select json_build_object(
        'stale_chunks', (select count(*) from client_memory_chunks c
                         where p_model is not null and c.embedding_model is distinct from p_model),
        'ambiguous_pairs', (select count(*) from (
            select from desk_dialogs d where d.chunks > 0 and d.ru_id <> '' and d.tu_id <> ''
            group by d.ru_id, d.tu_id having count(*) > 1) p),
        'photos_without_text', (desk_photos_without_text(0) ->> 'total')::bigint)
$$;
comment on function companion_memory_state(text) is 'Chunks of another model, pairs under two keys, photos without words.';

create or replace function companion_snapshot_day(p_day date, p_from timestamptz, p_to timestamptz, p_now timestamptz) returns json
language plpgsql stable set search_path = public, extensions
set plan_cache_mode = 'force_custom_plan' set statement_timeout = '10s' as $$
declare
    found json;
begin
    with lines as materialized (
        select c.sync_date, count(*) filter (where c.expected) as expected,
               count(*) filter (where c.expected and c.complete) as synced,
               count(*) filter (where c.entities > 0 or c.complete) as dialogs
        from desk_snapshot_coverage(p_day - 1, p_day) c group by 1
    ), due as materialized (
        select s.expires_at from tips_daily_entity_snapshots s
        where s.expires_at < p_now + interval '24 hours'
          and not exists (select from desk_snapshot_pins p where p.snapshot_id = s.id and p.until > p_now)
    )
    select json_build_object(
        'expected', coalesce((select expected from lines where sync_date = p_day), 0),
        'synced', coalesce((select synced from lines where sync_date = p_day), 0),
        'dialogs', coalesce((select dialogs from lines where sync_date = p_day), 0),
        'missing', coalesce((select expected - synced from lines where sync_date = p_day), 0),
        'missing_yesterday', coalesce((select expected - synced from lines where sync_date = p_day - 1), 0),
        'expired', (select count(*) from due where expires_at < p_now),
        'expired_24h', (select count(*) from due where expires_at < p_now - interval '24 hours'),
        'oldest_expired_age_h', (select round((extract(epoch from p_now - min(expires_at)) / 3600)::numeric, 1)
                                 from due where expires_at < p_now),
        'expiring_24h', (select count(*) from due where expires_at >= p_now),
        'changed', (select count(*) from companion_events e where e.type = 'SnapshotChanged' and e.ts >= p_from and e.ts < p_to),
        'cleanups', (select count(*) from companion_events e where e.type = 'CleanupRan' and e.ts >= p_from and e.ts < p_to))
    into found;
    return found;
end
$$;
comment on function companion_snapshot_day is 'Which syncs a day lacks, what is expired by now, what changed.';

create or replace function companion_sync_days(p_since date, p_until date) returns json
language sql stable set search_path = public, extensions set statement_timeout = '30s' as $$
    select coalesce(json_object_agg(d.sync_date, json_build_object('expected', d.expected, 'synced', d.synced)), '{}') from (
        select c.sync_date, count(*) filter (where c.expected) as expected,
               count(*) filter (where c.expected and c.complete) as synced
        from desk_snapshot_coverage(p_since, p_until) c group by 1) d
$$;
comment on function companion_sync_days(date, date) is 'By day: dialogs whose sync was due, and those that were synced.';

create or replace function companion_usage_day(p_from timestamptz, p_to timestamptz, p_now timestamptz) returns json
language sql stable set search_path = public, extensions set statement_timeout = '10s' as $$
    select json_build_object(
        'requests', (select count(distinct u.request_id) from token_usage_log u where u.at >= p_from and u.at < p_to),
        -- in whole hours, as the rollup has them
        'calls_6h', (select coalesce(sum(h.calls), 0) from desk_usage_hours h
                     where h.hour >= date_trunc('hour', p_now - interval '6 hours', 'UTC') and h.hour < p_now))
$$;
comment on function companion_usage_day is 'Requests of a day, and calls of the last six hours.';

-- Minutes by local day in which the whole was degraded or down, by the samples of the health history.
create or replace function companion_health_days(p_since timestamptz, p_until timestamptz, p_tz text) returns json
language sql stable set search_path = public, extensions set statement_timeout = '30s' as $$
    with spans as (
        select s.* from desk_health_spans(p_since) s
        where s.component = 'overall' and s.status in ('degraded', 'down') and s.starts < p_until
    ), parts as (
        select d.day, greatest(s.starts, d.day::timestamp at time zone p_tz) as starts,
               least(s.ends, (d.day + 1)::timestamp at time zone p_tz) as ends
        from spans s
        cross join lateral (
            select g::date as day from generate_series((s.starts at time zone p_tz)::date, (s.ends at time zone p_tz)::date,
                                                       interval '1 day') g) d
    )
    select coalesce(json_object_agg(day, minutes), '{}') from (
        select day, round((sum(extract(epoch from ends - starts)) / 60)::numeric, 1) as minutes
        from parts where ends > starts group by 1) x
$$;
comment on function companion_health_days is 'Minutes of each local day in which the system was not ok.';

create or replace function companion_health_day(p_from timestamptz, p_to timestamptz) returns json
language sql stable set search_path = public, extensions set statement_timeout = '10s' as $$
    select json_build_object(
        'incidents', count(*) filter (where e.type = 'HealthDegraded'),
        'recoveries', count(*) filter (where e.type = 'HealthRecovered'),
        'checks', count(*) filter (where e.type = 'HealthChecked'),
        'checks_failed', count(*) filter (where e.type = 'HealthChecked' and e.payload ->> 'ok' = 'false'))
    from companion_events e
    where e.type in ('HealthDegraded', 'HealthRecovered', 'HealthChecked') and e.ts >= p_from and e.ts < p_to
$$;
comment on function companion_health_day(timestamptz, timestamptz) is 'Incidents and checks of a day.';

revoke execute on function companion_note_figures, companion_latest_figures, companion_figure_days, companion_memory_day,
    companion_memory_state, companion_snapshot_day, companion_sync_days, companion_usage_day, companion_health_days,
    companion_health_day
    from public, anon, authenticated;
grant execute on function companion_note_figures, companion_latest_figures, companion_figure_days, companion_memory_day,
    companion_memory_state, companion_snapshot_day, companion_sync_days, companion_usage_day, companion_health_days,
    companion_health_day
    to service_role;
notify pgrst, 'reload schema';
