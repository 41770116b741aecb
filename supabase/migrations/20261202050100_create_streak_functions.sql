-- Streaks: a day is judged under a lock from what the log says at that moment, so that two processes end with the same rows
-- whatever order they come in. Judged twice it is the same; what was judged under another goal keeps that goal.
select set_config('search_path', 'public, extensions', true);

create or replace function companion_refresh_streak(
    p_streak jsonb, p_measure jsonb, p_values jsonb, p_since date, p_until date, p_today date, p_tz text,
    p_threshold double precision, p_comparison text, p_not_before timestamptz default null, p_bridges date[] default '{}'
) returns json
language plpgsql set search_path = public, extensions set statement_timeout = '60s' as $$
declare
    streak text := p_streak ->> 'id';
    s companion_streaks;
begin
    perform pg_advisory_xact_lock(hashtextextended('companion_streak:' || streak, 0));
    insert into companion_streaks as c (id, module, label, grace)
    values (streak, p_streak ->> 'module', p_streak ->> 'label', (p_streak ->> 'grace')::integer)
    on conflict (id) do update set module = excluded.module, label = excluded.label, grace = excluded.grace, updated_at = now();

    with fresh as (
        select d.day, d.value from companion_daily_metric(p_measure, p_since, p_until, p_tz, p_not_before) d
        where p_values is null and d.value is not null
        union all
        select v.key::date, v.value::double precision from jsonb_each_text(p_values) v
        where v.key::date between p_since and p_until
    ), judged as (
        select f.day, f.value, case when f.day < p_today then coalesce(o.threshold, p_threshold) else p_threshold end as goal
        from fresh f left join companion_streak_days o on o.streak_id = streak and o.day = f.day
    ), gone as (
        delete from companion_streak_days o
        where o.streak_id = streak and o.day between p_since and p_until and not exists (
            select from fresh f where f.day = o.day)
    )
    insert into companion_streak_days as d (streak_id, day, value, threshold, active)
    select streak, j.day, j.value, j.goal, case p_comparison
        when 'gte' then j.value >= j.goal - 1e-9 when 'lte' then j.value <= j.goal + 1e-9
        else abs(j.value - j.goal) < 1e-9 end
    from judged j
    on conflict (streak_id, day) do update
        set value = excluded.value, threshold = excluded.threshold, active = excluded.active;

    -- A gap goes on counting up to the grace, and one day more where the zone was changed in it: the change is no missed day.
    with days as (
        select d.day, lag(d.day) over (order by d.day) as before
        from companion_streak_days d where d.streak_id = streak and d.active
    ), starts as (
        select d.day, d.before is null or d.day - d.before > 1 + (p_streak ->> 'grace')::integer + (
            select count(*) from unnest(p_bridges) b where d.before < b and b <= d.day) as starts
        from days d
    ), runs as (
        select x.day, count(*) filter (where x.starts) over (order by x.day) as run from starts x
    ), counted as (
        select r.run, count(*) as n, max(r.day) as last from runs r group by 1
    )
    update companion_streaks c set
        current = coalesce((select n from counted order by run desc limit 1), 0),
        longest = coalesce((select max(n) from counted), 0),
        last_active = (select max(last) from counted)
    where c.id = streak
    returning * into s;
    return json_build_object('id', s.id, 'current', s.current, 'longest', s.longest, 'last_active', s.last_active);
end
$$;
comment on function companion_refresh_streak is
    'Judges the days p_since to p_until of a streak anew, from its measure or from p_values {day: value}, and counts the runs.';

create or replace function companion_streak_list() returns json
language sql stable set search_path = public, extensions as $$
    select json_build_object(
        'streaks', (select coalesce(json_agg(s order by s.id), '[]') from companion_streaks s),
        'zone', (select watermark from companion_cursors where source = 'zone'))
$$;
comment on function companion_streak_list() is 'Streaks as they stand, and the zone their days are counted in.';

create or replace function companion_streak_history(p_id text, p_since date) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(json_build_object(
        'day', d.day, 'value', d.value, 'threshold', d.threshold, 'active', d.active) order by d.day), '[]')
    from companion_streak_days d where d.streak_id = p_id and d.day >= p_since
$$;
comment on function companion_streak_history(text, date) is 'The judged days of a streak.';

-- The zone that days are counted in. What was counted stays (`lasts`: the last day that counted, by streak); from `since` on
-- days are counted in the new zone, by what came in after the change.
create or replace function companion_set_zone(p_tz text, p_now timestamptz default now()) returns json
language plpgsql set search_path = public, extensions as $$
declare
    was jsonb;
begin
    perform pg_advisory_xact_lock(hashtextextended('companion_zone', 0));
    select watermark into was from companion_cursors where source = 'zone';
    if was ->> 'tz' = p_tz then
        return was;
    elsif was is null then
        was := jsonb_build_object('tz', p_tz, 'changes', '[]'::jsonb);
    else
        was := jsonb_build_object('tz', p_tz, 'changes', (was -> 'changes') || jsonb_build_object(
            'from', was ->> 'tz', 'to', p_tz, 'since', (p_now at time zone p_tz)::date, 'at', p_now,
            'lasts', (select coalesce(jsonb_object_agg(l.streak_id, l.day), '{}') from (
                select d.streak_id, max(d.day) as day from companion_streak_days d where d.active group by 1) l)));
    end if;
    insert into companion_cursors (source, watermark) values ('zone', was)
    on conflict (source) do update set watermark = excluded.watermark, updated_at = now();
    return was;
end
$$;
comment on function companion_set_zone(text, timestamptz) is
    'Notes the zone days are counted in: {tz, changes: [{from, to, since, at, lasts}]}.';

create or replace function companion_replace_correlations(p_rows jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    gone bigint;
begin
    perform pg_advisory_xact_lock(hashtextextended('companion_correlations', 0));
    delete from companion_correlations c where not exists (
        select from jsonb_array_elements(p_rows) given where given.value ->> 'id' = c.id);
    get diagnostics gone = row_count;
    insert into companion_correlations as c (id, factors, r, p, n, direction, sentence, computed_at)
    select x.* from jsonb_to_recordset(p_rows) as x (
        id text, factors jsonb, r double precision, p double precision, n integer, direction text, sentence text,
        computed_at timestamptz)
    on conflict (id) do update set factors = excluded.factors, r = excluded.r, p = excluded.p, n = excluded.n,
        direction = excluded.direction, sentence = excluded.sentence, computed_at = excluded.computed_at;
    return json_build_object('kept', jsonb_array_length(p_rows), 'gone', gone);
end
$$;
comment on function companion_replace_correlations(jsonb) is 'The correlations of today in place of those before; shown_at stays.';

create or replace function companion_correlation_list() returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(c order by abs(c.r) desc, c.id), '[]') from companion_correlations c
$$;
comment on function companion_correlation_list() is 'Correlations of the last computation, strongest first.';

create or replace function companion_mark_correlation_shown(p_id text, p_at timestamptz) returns json
language plpgsql set search_path = public, extensions as $$
declare
    found_it boolean;
begin
    update companion_correlations set shown_at = p_at where id = p_id and shown_at is null;
    get diagnostics found_it = row_count;
    return json_build_object('marked', found_it);
end
$$;
comment on function companion_mark_correlation_shown(text, timestamptz) is 'Notes once that a correlation was shown.';

revoke execute on function companion_refresh_streak, companion_streak_list, companion_streak_history, companion_set_zone,
    companion_replace_correlations, companion_correlation_list, companion_mark_correlation_shown
    from public, anon, authenticated;
grant execute on function companion_refresh_streak, companion_streak_list, companion_streak_history, companion_set_zone,
    companion_replace_correlations, companion_correlation_list, companion_mark_correlation_shown to service_role;
notify pgrst, 'reload schema';
