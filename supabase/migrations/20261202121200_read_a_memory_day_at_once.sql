-- A day of searches read without a call per row: a function with settings is never inlined and costs more than its row.
select set_config('search_path', 'public, extensions', true);

-- The memory on a day (p_from up to p_to), and in the hour before p_now. Totals are those of the rollup.
create or replace function companion_memory_day(p_from timestamptz, p_to timestamptz, p_now timestamptz) returns json
language plpgsql stable set search_path = public, extensions
set plan_cache_mode = 'force_custom_plan' set statement_timeout = '10s' as $$
declare
    found json;
begin
    with searches as materialized (
        select e.ts, case when jsonb_typeof(e.payload -> 'latency_ms') = 'number' then (e.payload ->> 'latency_ms')::float8 end as ms,
               e.payload ->> 'fallback' = 'true' as fallback, e.payload ->> 'results' = '0' as empty
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

revoke execute on function companion_memory_day from public, anon, authenticated;
grant execute on function companion_memory_day to service_role;
notify pgrst, 'reload schema';
