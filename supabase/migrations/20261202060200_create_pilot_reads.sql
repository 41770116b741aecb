-- The operator's day as it is read: one section of the day snapshot per module, lists for the pages, figures per local day.
select set_config('search_path', 'public, extensions', true);

create or replace function companion_day_start(p_day date, p_tz text) returns timestamptz
language sql stable set search_path = public, extensions as $$
    select p_day::timestamp at time zone p_tz
$$;
comment on function companion_day_start(date, text) is 'The instant at which a local day begins.';

create or replace function companion_todo_day(p_day date, p_tz text) returns json
language sql stable set search_path = public, extensions as $$
    select json_build_object(
        'total', count(*) filter (where completed_at is null),
        'completed', count(*) filter (where completed_at >= companion_day_start(p_day, p_tz)
                                        and completed_at < companion_day_start(p_day + 1, p_tz)),
        'overdue', count(*) filter (where completed_at is null and due_date < p_day),
        'due_today', coalesce(json_agg(
            json_build_object('id', id, 'title', title, 'priority', priority, 'project_id', project_id)
            order by array_position('{high,medium,low}', priority), created_at, id)
            filter (where completed_at is null and due_date = p_day), '[]'))
    from companion_tasks
    where deleted_at is null and (completed_at is null or completed_at >= companion_day_start(p_day, p_tz))
$$;
comment on function companion_todo_day(date, text) is 'Tasks of a day: open, completed on it, overdue, due on it.';

create or replace function companion_calendar_list(p_since date, p_until date, p_tz text, p_limit integer default 500) returns json
language sql stable set search_path = public, extensions as $$
    with spanned as (
        select e.id, e.title, e.description, e.location, e.is_all_day, e.is_recurring, e.calendar_id,
               e.start_at, e.end_at, e.start_date, e.end_date, e.last_actor,
               case when e.is_all_day then e.start_date else (e.start_at at time zone p_tz)::date end as day
        from companion_calendar_events e
        where e.deleted_at is null and case
            when e.is_all_day then e.start_date <= p_until and e.end_date > p_since
            else e.start_at < companion_day_start(p_until + 1, p_tz)
                 and (e.end_at > companion_day_start(p_since, p_tz) or e.start_at >= companion_day_start(p_since, p_tz)) end
        order by day, e.is_all_day desc, e.start_at, e.id
        limit greatest(0, least(p_limit, 1000))
    )
    select coalesce(json_agg(s order by s.day, s.is_all_day desc, s.start_at, s.id), '[]') from spanned s
$$;
comment on function companion_calendar_list is 'Appointments that touch these local days, in order; all-day ones on their dates in any zone.';

create or replace function companion_calendar_day(p_day date, p_tz text, p_now timestamptz) returns json
language sql stable set search_path = public, extensions as $$
    with today as (
        select e, e ->> 'is_all_day' = 'true' as whole, (e ->> 'start_at')::timestamptz as start_at, n,
               json_build_object('id', e ->> 'id', 'title', e ->> 'title',
                   'start', coalesce(e ->> 'start_at', e ->> 'start_date'), 'end', coalesce(e ->> 'end_at', e ->> 'end_date'),
                   'is_all_day', (e ->> 'is_all_day')::boolean, 'calendar_id', e ->> 'calendar_id') as item
        from json_array_elements(companion_calendar_list(p_day, p_day, p_tz)) with ordinality as l (e, n)
    ), upcoming as (
        select item, n from today where start_at >= p_now order by n limit 5
    )
    select json_build_object(
        'total', (select count(*) from today),
        'all_day', (select coalesce(json_agg(item order by n), '[]') from today where whole),
        'upcoming', (select coalesce(json_agg(item order by n), '[]') from upcoming),
        'next_event', (select item from upcoming order by n limit 1))
$$;
comment on function companion_calendar_day is 'Appointments of a day; upcoming: at most five that start at p_now or later.';

create or replace function companion_drink_day(p_day date) returns json
language sql stable set search_path = public, extensions as $$
    with goal as (select (companion_nutrition_goal() ->> 'daily_water_ml')::numeric as ml),
    sums as (
        select coalesce(sum(quantity_ml) filter (where drink_type = 'water'), 0) as water,
               coalesce(sum(quantity_ml) filter (where drink_type = 'coffee'), 0) as coffee,
               count(*) filter (where drink_type = 'coffee') as coffees,
               coalesce(sum(quantity_ml) filter (where drink_type not in ('water', 'coffee')), 0) as other,
               count(*) filter (where drink_type not in ('water', 'coffee')) as others,
               coalesce(sum(quantity_ml), 0) as total, count(*) as drinks
        from companion_drink_entries where day = p_day and deleted_at is null
    )
    select json_build_object(
        'water', json_build_object('ml', water, 'goal', ml,
            'percent', case when ml > 0 then round(100 * water / ml)::int else 0 end),
        'coffee', json_build_object('ml', coffee, 'count', coffees),
        'other', json_build_object('ml', other, 'count', others),
        'total', json_build_object('ml', total, 'count', drinks))
    from sums, goal
$$;
comment on function companion_drink_day(date) is 'Drinks of a day; the percentage of the water goal is not capped.';

create or replace function companion_food_day(p_day date) returns json
language sql stable set search_path = public, extensions as $$
    with goal as (
        select (g ->> 'daily_calories')::numeric as kcal, (g ->> 'daily_protein')::numeric as protein
        from (select companion_nutrition_goal() as g) x
    ), sums as (
        select count(*) as meals, coalesce(sum(calories), 0) as kcal, coalesce(sum(protein), 0) as protein
        from companion_meals where day = p_day and deleted_at is null
    )
    select jsonb_strip_nulls(jsonb_build_object(
        'meals', s.meals,
        'calories', jsonb_build_object('actual', s.kcal, 'goal', g.kcal,
            'percent', case when g.kcal > 0 then least(100, round(100 * s.kcal / g.kcal))::int else 0 end),
        'protein', case when g.protein is not null then
            jsonb_build_object('actual', s.protein, 'goal', g.protein) end))::json
    from sums s, goal g
$$;
comment on function companion_food_day(date) is 'Meals of a day; protein where there is a goal for it.';

create or replace function companion_places_day(p_day date) returns json
language sql stable set search_path = public, extensions as $$
    select jsonb_strip_nulls(jsonb_build_object(
        'visited_today', (select count(distinct place_id) from companion_location_logs where day = p_day and deleted_at is null),
        'tracking', exists (select from companion_tracking_sessions where stopped_at is null),
        'current_location', (
            select jsonb_build_object('lat', l.lat, 'lng', l.lng, 'at', l.at, 'place_id', p.id, 'place', p.name)
            from companion_location_logs l left join companion_places p on p.id = l.place_id and p.deleted_at is null
            where l.day = p_day and l.deleted_at is null order by l.at desc, l.id limit 1)))::json
$$;
comment on function companion_places_day(date) is 'Places of a day, and where the operator was last on it.';

create or replace function companion_task_list(
    p_filter text, p_today date, p_tz text, p_text text default null, p_limit integer default 20, p_offset integer default 0
) returns json
language plpgsql stable set search_path = public, extensions as $$
begin
    if p_filter is null or p_filter not in ('open', 'completed', 'overdue', 'today', 'all') then
        raise exception 'unknown filter' using errcode = '22023';
    end if;
    return (
        with found as (
            select t.id, t.title, t.description, t.due_date, t.priority, t.project_id, t.label_ids, t.completed_at, t.created_at,
                   t.updated_at, t.last_actor,
                   t.completed_at is null and t.due_date < p_today as overdue,
                   row_number() over (order by t.completed_at is not null, case when t.completed_at is null then t.due_date end
                       nulls last, t.completed_at desc, array_position('{high,medium,low}', t.priority), t.created_at, t.id) as n
            from companion_tasks t
            where t.deleted_at is null
              and (coalesce(p_text, '') = '' or strpos(lower(t.title), lower(p_text)) > 0)
              and case p_filter
                  when 'open' then t.completed_at is null
                  when 'completed' then t.completed_at is not null
                  when 'overdue' then t.completed_at is null and t.due_date < p_today
                  when 'today' then t.completed_at is null and t.due_date = p_today
                  else true end
        ), page as (
            select f.*,
                   (select coalesce(json_agg(json_build_object('id', s.id, 'title', s.title, 'completed_at', s.completed_at)
                       order by s.created_at, s.id), '[]') from companion_subtasks s
                    where s.task_id = f.id and s.deleted_at is null) as subtasks,
                   (select coalesce(json_agg(json_build_object('id', r.id, 'minutes_before', r.minutes_before, 'type', r.type)
                       order by r.minutes_before, r.id), '[]') from companion_task_reminders r
                    where r.task_id = f.id and r.deleted_at is null) as reminders
            from found f order by f.n
            limit greatest(0, least(coalesce(p_limit, 20), 500)) offset greatest(0, coalesce(p_offset, 0))
        )
        select json_build_object('rows', (select coalesce(json_agg(page order by n), '[]') from page),
                                 'total', (select count(*) from found)));
end
$$;
comment on function companion_task_list is
    'Tasks: open, completed, overdue, today or all, with steps and reminders; p_text is looked for in titles as it stands.';

create or replace function companion_drink_list(p_day date) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(json_build_object('id', e.id, 'drink_type', e.drink_type, 'quantity_ml', e.quantity_ml, 'name', e.name,
        'day', e.day, 'at', e.at, 'last_actor', e.last_actor) order by e.at desc, e.created_at desc, e.id), '[]')
    from (select * from companion_drink_entries where day = p_day and deleted_at is null order by at desc limit 500) e
$$;
comment on function companion_drink_list(date) is 'Drinks of a day, newest first, at most 500.';

create or replace function companion_meal_list(p_day date) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(json_build_object('id', m.id, 'meal_type', m.meal_type, 'input_type', m.input_type,
        'description', m.description, 'calories', m.calories, 'protein', m.protein, 'day', m.day, 'at', m.at,
        'last_actor', m.last_actor) order by m.at desc, m.created_at desc, m.id), '[]')
    from (select * from companion_meals where day = p_day and deleted_at is null order by at desc limit 500) m
$$;
comment on function companion_meal_list(date) is 'Meals of a day, newest first, at most 500.';

create or replace function companion_place_list(p_lat double precision default null, p_lng double precision default null) returns json
language sql stable set search_path = public, extensions as $$
    with near as (
        select p.id, p.name, p.category, p.address, p.lat, p.lng, p.visit_count, p.last_visited_at, p.last_actor,
               companion_km(p_lat, p_lng, p.lat, p.lng) as distance_km
        from companion_places p where p.deleted_at is null
        order by distance_km nulls last, lower(p.name), p.id limit 500
    )
    select coalesce(json_agg(near order by distance_km nulls last, lower(name), id), '[]') from near
$$;
comment on function companion_place_list is 'Places, nearest first where a position is given, else by name; at most 500.';

create or replace function companion_visit_list(p_day date) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(json_build_object('id', l.id, 'kind', l.kind, 'lat', l.lat, 'lng', l.lng, 'at', l.at,
        'distance_km', l.distance_km, 'place_id', l.place_id, 'place', p.name) order by l.at desc, l.id), '[]')
    from (select * from companion_location_logs where day = p_day and deleted_at is null order by at desc limit 500) l
    left join companion_places p on p.id = l.place_id
$$;
comment on function companion_visit_list(date) is 'Positions and visits of a day, newest first, at most 500.';

create or replace function companion_pilot_days(p_since date, p_until date, p_tz text) returns json
language sql stable set search_path = public, extensions as $$
    with days as (
        select d::date as day, companion_day_start(d::date, p_tz) as t0, companion_day_start(d::date + 1, p_tz) as t1
        from generate_series(p_since::timestamp, least(p_until, p_since + 400)::timestamp, '1 day') d
    )
    select coalesce(json_agg(json_build_object(
        'day', d.day, 'completed', t.completed, 'created', t.created, 'overdue', t.overdue,
        'appointments', c.n, 'meeting_hours', c.hours,
        'water_ml', k.water, 'coffee_ml', k.coffee, 'other_ml', k.other, 'coffees', k.coffees, 'drinks', k.n,
        'calories', m.kcal, 'protein', m.protein, 'meals', m.n, 'visits', l.visits, 'distance_km', l.km) order by d.day), '[]')
    from days d
    cross join lateral (
        select count(*) filter (where completed_at >= d.t0 and completed_at < d.t1) as completed,
               count(*) filter (where created_at >= d.t0 and created_at < d.t1) as created,
               count(*) filter (where due_date < d.day and created_at < d.t1
                                  and (completed_at is null or completed_at >= d.t1)) as overdue
        from companion_tasks where deleted_at is null
    ) t
    cross join lateral (
        select count(*) filter (where case when is_all_day then start_date = d.day
                                      else start_at >= d.t0 and start_at < d.t1 end) as n,
               coalesce(round((sum(extract(epoch from least(end_at, d.t1) - greatest(start_at, d.t0)))
                   filter (where not is_all_day and start_at < d.t1 and end_at > d.t0) / 3600)::numeric, 2), 0) as hours
        from companion_calendar_events
        where deleted_at is null and (start_date = d.day or start_at < d.t1 and end_at >= d.t0)
    ) c
    cross join lateral (
        select coalesce(sum(quantity_ml) filter (where drink_type = 'water'), 0) as water,
               coalesce(sum(quantity_ml) filter (where drink_type = 'coffee'), 0) as coffee,
               coalesce(sum(quantity_ml) filter (where drink_type not in ('water', 'coffee')), 0) as other,
               count(*) filter (where drink_type = 'coffee') as coffees, count(*) as n
        from companion_drink_entries where deleted_at is null and day = d.day
    ) k
    cross join lateral (
        select coalesce(sum(calories), 0) as kcal, coalesce(sum(protein), 0) as protein, count(*) as n
        from companion_meals where deleted_at is null and day = d.day
    ) m
    cross join lateral (
        select count(*) filter (where place_id is not null) as visits, round(coalesce(sum(distance_km), 0)::numeric, 3) as km
        from companion_location_logs where deleted_at is null and day = d.day
    ) l
$$;
comment on function companion_pilot_days(date, date, text) is
    'Figures per local day, at most 401 days. Overdue: at the end of the day, as tasks stand now; hours: without all-day appointments.';

revoke execute on function companion_day_start, companion_todo_day, companion_calendar_list, companion_calendar_day,
    companion_drink_day, companion_food_day, companion_places_day, companion_task_list, companion_drink_list, companion_meal_list,
    companion_place_list, companion_visit_list, companion_pilot_days from public, anon, authenticated;
grant execute on function companion_day_start, companion_todo_day, companion_calendar_list, companion_calendar_day,
    companion_drink_day, companion_food_day, companion_places_day, companion_task_list, companion_drink_list, companion_meal_list,
    companion_place_list, companion_visit_list, companion_pilot_days to service_role;

create or replace function companion_step_counts(p_task_id uuid) returns json
language sql stable set search_path = public, extensions as $$
    select json_build_object('total', count(*), 'completed', count(completed_at))
    from companion_subtasks where task_id = p_task_id and deleted_at is null
$$;
comment on function companion_step_counts(uuid) is 'How many steps a task has, and how many are done.';

create or replace function companion_calendar_id(p_id text default null) returns json
language sql stable set search_path = public, extensions as $$
    select to_json(id) from companion_calendars
    where deleted_at is null and case when p_id is null then is_default else id::text = lower(p_id) end
    limit 1
$$;
comment on function companion_calendar_id(text) is 'A calendar by its id, or the default one; null where there is none.';

revoke execute on function companion_step_counts, companion_calendar_id from public, anon, authenticated;
grant execute on function companion_step_counts, companion_calendar_id to service_role;

create or replace function companion_drink_preset_list() returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(json_build_object('id', id, 'name', name, 'drink_type', drink_type, 'quantity_ml', quantity_ml)
        order by pos, name, id), '[]')
    from companion_drink_presets where deleted_at is null
$$;
comment on function companion_drink_preset_list() is 'Drinks that are logged with one click, in their order.';

revoke execute on function companion_drink_preset_list from public, anon, authenticated;
grant execute on function companion_drink_preset_list to service_role;
