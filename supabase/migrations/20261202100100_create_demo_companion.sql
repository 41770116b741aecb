-- Six invented weeks of an operator's days. A row is known as demo data by its id, within the range that only the demo
-- makes; an event by its own id, by the record that it is about, or by the mission of the demo's assistant. With the demo
-- data they go: the rows, the events (their run stays as a gap, so that the log still verifies), and what was derived.
select set_config('search_path', 'public, extensions', true);

create or replace function companion_write_demo(p_rows jsonb) returns json
language plpgsql set search_path = public, extensions set statement_timeout = '60s' as $$
declare
    known text[] := array['companion_tasks', 'companion_calendar_events', 'companion_drink_entries', 'companion_meals',
                          'companion_places', 'companion_location_logs'];
    name text;
    given jsonb;
    columns text;
    added bigint;
    written bigint := 0;
begin
    if exists (select from jsonb_each(p_rows) t, jsonb_array_elements(t.value) r
               where t.key <> all (known) or desk_is_demo_id((r ->> 'id')::uuid) is not true) then
        raise exception 'a row that is not marked as demo data' using errcode = '22023';
    end if;
    foreach name in array known loop
        given := p_rows -> name;
        continue when given is null or jsonb_array_length(given) = 0;
        select string_agg(format('%I', k), ', ' order by k) into columns from jsonb_object_keys(given -> 0) k;
        execute format('insert into %1$I (%2$s) select %2$s from jsonb_populate_recordset(null::%1$I, $1) on conflict do nothing',
                       name, columns) using given;
        get diagnostics added = row_count;
        written := written + added;
    end loop;
    return json_build_object('written', written);
end
$$;
comment on function companion_write_demo(jsonb) is
    'Writes records of the demo: {table: [rows with the same columns]}; whatever stands there already is left as it is.';

-- A goal that was kept since p_since: its periods are judged by the events that are stored, each said when it happened. Those
-- that take back are none of the demo's; the present period is counted like that of any goal.
create or replace function companion_write_demo_goal(
    p_goal jsonb, p_since date, p_day date, p_zone text, p_actor jsonb
) returns json
language plpgsql set search_path = public, extensions set statement_timeout = '60s' as $$
declare
    one uuid := (p_goal ->> 'id')::uuid;
    metric jsonb := p_goal -> 'metric';
    goal_target jsonb := p_goal -> 'target';
    period text := goal_target ->> 'period';
    wanted numeric := (goal_target ->> 'value')::numeric;
    first_start date := companion_period_start(p_since, period);
    this_start date := companion_period_start(p_day, period);
    closed bigint;
begin
    if desk_is_demo_id(one) is not true then
        raise exception 'a goal that is not marked as demo data' using errcode = '22023';
    end if;
    if first_start < p_since then
        first_start := companion_period_next(first_start, period);
    end if;
    insert into companion_goals (id, title, module, linked_modules, template_id, metric, target, current_value, period_start,
                                 zone, counted_from, last_actor, created_at, updated_at)
    values (one, p_goal ->> 'title', p_goal ->> 'module',
            array(select jsonb_array_elements_text(coalesce(p_goal -> 'linked_modules', '[]'))), p_goal ->> 'template_id',
            metric, goal_target, 0, this_start, p_zone, p_since::timestamp at time zone p_zone, p_actor,
            p_since::timestamp at time zone p_zone, p_since::timestamp at time zone p_zone)
    on conflict do nothing;
    if not found then
        return json_build_object('periods', 0);
    end if;

    with counted as (
        select companion_period_start(companion_event_day(e.payload, e.ts, p_zone), period) as starts, e.ts, e.seq,
               case when metric ->> 'distinct_field' is null then companion_goal_amount(metric, e.type, e.payload)
                    else (row_number() over (
                        partition by companion_period_start(companion_event_day(e.payload, e.ts, p_zone), period),
                                     e.payload ->> (metric ->> 'distinct_field') order by e.seq) = 1)::int end as amount
        from companion_events e
        where e.type in (select jsonb_array_elements_text(metric -> 'events'))
          and companion_goal_amount(metric, e.type, e.payload) is not null
    ), running as (
        select c.*, sum(c.amount) over (partition by c.starts order by c.ts, c.seq) as total from counted c
    ), judged as (
        select d::date as starts, companion_period_next(d::date, period) as next_start, r.*
        from generate_series(first_start, this_start - 1, ('1 ' || period)::interval) d
        cross join lateral (
            select coalesce(sum(x.amount), 0) as value,
                   min(x.ts) filter (where x.total >= wanted) as met_at, min(x.ts) filter (where x.total > wanted) as over_at,
                   min(x.total) filter (where x.total >= wanted) as met_with
            from running x where x.starts = d::date) r
    ), told as (
        select j.*, j.next_start::timestamp at time zone p_zone as ends_at,
               companion_goal_meets(j.value, goal_target) as met, goal_target ->> 'comparison' as comparison
        from judged j
    ), kept as (
        insert into companion_goal_periods (goal_id, period_start, period_end, value, reached, reached_at, exceeded_at, closed_at, zone)
        select one, starts, next_start - 1, value, met,
               case when met then case when comparison = 'gte' then met_at else ends_at end end,
               case when comparison = 'lte' then over_at end, ends_at, p_zone
        from told
        on conflict do nothing
        returning period_start, value, reached_at, exceeded_at
    )
    select companion_append_events(coalesce(jsonb_agg(jsonb_build_object(
               'event_id', overlay(overlay(md5(one::text || k.period_start || s.kind) placing 'de30de30de308' from 1 for 13)
                                   placing '8' from 17 for 1)::uuid,
               'class', 'audit', 'type', s.kind, 'ts', s.at, 'app_id', 'companion', 'collection', 'companion_goals',
               'record_id', one, 'actor', jsonb_build_object('kind', 'system', 'principal_id', 'system:projection',
                                                             'display_name', 'projection', 'source', 'projection'),
               'payload', jsonb_build_object(
                   'goal_id', one, 'title', p_goal ->> 'title', 'value', k.value, 'target', wanted, 'period', period,
                   'period_start', k.period_start)) order by s.at), '[]')) ->> 'inserted'
    into closed
    from kept k
    cross join lateral (values ('GoalReached', k.reached_at), ('GoalExceeded', k.exceeded_at)) s (kind, at)
    where s.at is not null;
    return json_build_object('periods', (select count(*) from companion_goal_periods where goal_id = one), 'events', closed);
end
$$;
comment on function companion_write_demo_goal is 'Writes a goal of the demo with its periods since p_since and their events.';

create or replace function desk_remove_demo_companion() returns trigger
language plpgsql security definer set search_path = public, extensions, pg_temp as $$
declare
    low constant uuid := 'de30de30-de30-8000-8000-000000000000';
    high constant uuid := 'de30de30-de30-9000-8000-000000000000';
    mission constant text := 'demo';
begin
    if new.key <> 'demo' or new.value ->> 'state' is distinct from 'removed' then
        return null;
    end if;
    delete from companion_location_logs where (id >= low and id < high) or (place_id >= low and place_id < high);
    delete from companion_places where id >= low and id < high;
    delete from companion_meals where id >= low and id < high;
    delete from companion_drink_entries where id >= low and id < high;
    delete from companion_calendar_events where id >= low and id < high;
    delete from companion_tasks where id >= low and id < high;
    delete from companion_goals where id >= low and id < high;
    delete from companion_proposals where mission_id = mission;

    -- Goals of people are counted without the demo's entries from now on.
    with gone as (
        delete from companion_goal_entries where event_id >= low and event_id < high returning goal_id
    )
    update companion_goals g set recounted_at = null, current_value = 0 where g.id in (select goal_id from gone);
    update companion_goals g set current_value = companion_goal_value(g.id, g.period_start, g.metric)
    where g.recounted_at is null and g.metric ->> 'source' in ('event_count', 'event_sum');

    perform companion_take_out_events(array(
        select e.seq from companion_events e
        where (e.event_id >= low and e.event_id < high) or e.record_id like 'de30de30-de30-8%' or e.mission_id = mission));

    -- What was derived from it is made anew from what is left.
    delete from companion_facts f
    where f.origin = 'rule' and not exists (select from companion_events e where e.event_id = any (f.source_events));
    delete from companion_correlations;
    delete from companion_streaks;
    delete from companion_nudges where status in ('open', 'snoozed');
    return null;
end
$$;
comment on function desk_remove_demo_companion() is
    'Deletes the demo''s records, goals, proposals and events, and what was derived from them, with the demo data.';
drop trigger if exists desk_meta_remove_demo_companion on desk_meta;
create trigger desk_meta_remove_demo_companion after insert or update on desk_meta
    for each row when (new.key = 'demo') execute function desk_remove_demo_companion();

revoke execute on function companion_write_demo, companion_write_demo_goal, desk_remove_demo_companion
    from public, anon, authenticated;
grant execute on function companion_write_demo, companion_write_demo_goal to service_role;
notify pgrst, 'reload schema';
