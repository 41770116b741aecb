-- How rows of the operator's day are written: each change locks its row, says what really changed, and notes the actor of every
-- field it set. Nothing is written where the row is not as the caller takes it to be.
select set_config('search_path', 'public, extensions', true);

create or replace function companion_record_table(p_table text) returns regclass
language plpgsql stable set search_path = public, extensions as $$
begin
    if p_table is null or p_table not in (
        'companion_tasks', 'companion_subtasks', 'companion_task_reminders', 'companion_calendars', 'companion_calendar_events',
        'companion_drink_presets', 'companion_drink_entries', 'companion_meals', 'companion_places', 'companion_location_logs'
    ) then
        raise exception 'no such kind of record' using errcode = '22023';
    end if;
    return to_regclass('public.' || p_table);
end
$$;
comment on function companion_record_table(text) is 'The table of a kind of record; an error for any other.';

create or replace function companion_field_actors(p_fields text[], p_actor jsonb) returns jsonb
language sql immutable set search_path = public, extensions as $$
    select coalesce(jsonb_object_agg(f, p_actor - 'rationale'), '{}') from unnest(p_fields) f
$$;
comment on function companion_field_actors(text[], jsonb) is 'Who set these fields: the actor without the reason.';

-- The id comes from whoever asks, made when the form was drawn: asked twice, one row.
create or replace function companion_insert_record(p_table text, p_row jsonb, p_actor jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    t regclass := companion_record_table(p_table);
    given text[] := array(select jsonb_object_keys(p_row));
    made jsonb;
begin
    execute format(
        'insert into %1$s as t (%2$s, last_actor, field_actors)
         select %2$s, $2, $3 from jsonb_populate_record(null::%1$s, $1)
         on conflict (id) do nothing returning to_jsonb(t)',
        t, (select string_agg(quote_ident(c), ', ') from unnest(given) c))
    into made
    using p_row, p_actor, companion_field_actors(array(select c from unnest(given) c where c <> all ('{id,created_at,updated_at}')), p_actor);
    if made is not null then
        return json_build_object('created', true, 'row', made);
    end if;
    execute format('select to_jsonb(t) from %s t where id = $1', t) into made using (p_row ->> 'id')::uuid;
    return json_build_object('created', false, 'row', made);
end
$$;
comment on function companion_insert_record(text, jsonb, jsonb) is 'Writes a record once: created is false where its id is there already.';

create or replace function companion_change_record(
    p_table text, p_id uuid, p_set jsonb, p_actor jsonb, p_at timestamptz,
    p_empty text[] default '{deleted_at}', p_filled text[] default '{}', p_match jsonb default '{}'
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    t regclass := companion_record_table(p_table);
    given text[] := array(select jsonb_object_keys(p_set));
    before jsonb;
    wanted jsonb;
    expected jsonb;
    after jsonb;
    differs text[];
begin
    execute format('select to_jsonb(t) from %s t where id = $1 for update', t) into before using p_id;
    if before is null or (before -> 'deleted_at' <> 'null' and 'deleted_at' = any (p_empty)) then
        return json_build_object('outcome', 'missing');
    end if;
    execute format('select to_jsonb(jsonb_populate_record(null::%1$s, $1)), to_jsonb(jsonb_populate_record(null::%1$s, $2))', t)
    into wanted, expected using p_set, coalesce(p_match, '{}');
    differs := array(
        select f from unnest(p_empty) f where before -> f <> 'null'
        union select f from unnest(p_filled) f where before -> f = 'null'
        union select f from jsonb_object_keys(coalesce(p_match, '{}')) f where before -> f is distinct from expected -> f);
    if differs <> '{}' then
        return json_build_object('outcome', 'refused', 'before', before, 'fields', differs);
    end if;
    given := array(select f from unnest(given) f where before -> f is distinct from wanted -> f order by f);
    if given = '{}' then
        return json_build_object('outcome', 'same', 'before', before, 'row', before, 'fields', given);
    end if;
    execute format(
        'update %1$s as t set %2$s, updated_at = $2, last_actor = $3, field_actors = t.field_actors || $4
         from jsonb_populate_record(null::%1$s, $1) w where t.id = $5 returning to_jsonb(t)',
        t, (select string_agg(format('%1$I = w.%1$I', c), ', ') from unnest(given) c))
    into after using p_set, p_at, p_actor, companion_field_actors(given, p_actor), p_id;
    return json_build_object('outcome', 'changed', 'before', before, 'row', after, 'fields', given);
end
$$;
comment on function companion_change_record is
    'Changes one record. outcome: changed, same, missing, or refused (fields: what is not as p_empty, p_filled, p_match say).';

create or replace function companion_undo_drink(p_day date, p_at timestamptz, p_actor jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    latest uuid;
begin
    select id into latest from companion_drink_entries
    where day = p_day and deleted_at is null
    order by created_at desc, id desc limit 1 for update;
    if latest is null then
        return json_build_object('outcome', 'missing');
    end if;
    return companion_change_record(
        'companion_drink_entries', latest, jsonb_build_object('deleted_at', p_at), p_actor, p_at);
end
$$;
comment on function companion_undo_drink(date, timestamptz, jsonb) is 'Takes back the latest drink of a day.';

create or replace function companion_km(p_lat1 double precision, p_lng1 double precision, p_lat2 double precision, p_lng2 double precision)
returns double precision
language sql immutable strict set search_path = public, extensions as $$
    select 2 * 6371.0088 * asin(least(1, sqrt(
        sin(radians(p_lat2 - p_lat1) / 2) ^ 2
        + cos(radians(p_lat1)) * cos(radians(p_lat2)) * sin(radians(p_lng2 - p_lng1) / 2) ^ 2)))
$$;
comment on function companion_km is 'Kilometres between two positions, along a great circle.';

create or replace function companion_count_visit(p_place_id uuid, p_at timestamptz, p_by integer, p_actor jsonb) returns jsonb
language sql set search_path = public, extensions as $$
    update companion_places as p set
        visit_count = greatest(0, visit_count + p_by),
        last_visited_at = case when p_by > 0 then greatest(last_visited_at, p_at) else (
            select max(l.at) from companion_location_logs l where l.place_id = p.id and l.deleted_at is null) end,
        updated_at = p_at, last_actor = p_actor,
        field_actors = field_actors || companion_field_actors('{visit_count}', p_actor)
    where id = p_place_id and deleted_at is null
    returning to_jsonb(p)
$$;
comment on function companion_count_visit(uuid, timestamptz, integer, jsonb) is 'One visit more or less, in one step; null for no such place.';

create or replace function companion_visit_place(p_id uuid, p_place_id uuid, p_day date, p_at timestamptz, p_actor jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    place companion_places;
begin
    select * into place from companion_places where id = p_place_id and deleted_at is null for update;
    if place.id is null then
        return json_build_object('outcome', 'missing');
    end if;
    insert into companion_location_logs (id, kind, lat, lng, place_id, day, at, created_at, last_actor)
    values (p_id, 'visit', place.lat, place.lng, p_place_id, p_day, p_at, p_at, p_actor)
    on conflict (id) do nothing;
    if not found then
        return json_build_object('outcome', 'same', 'place', to_jsonb(place));
    end if;
    return json_build_object('outcome', 'visited', 'place', companion_count_visit(p_place_id, p_at, 1, p_actor));
end
$$;
comment on function companion_visit_place is 'Notes a visit once per id. outcome: visited, same, missing.';

create or replace function companion_unvisit_place(p_id uuid, p_at timestamptz, p_actor jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    place uuid;
    visited date;
begin
    update companion_location_logs set deleted_at = p_at, updated_at = p_at, last_actor = p_actor
    where id = p_id and deleted_at is null and place_id is not null
    returning place_id, day into place, visited;
    if place is null then
        return json_build_object('outcome', 'missing');
    end if;
    return json_build_object('outcome', 'undone', 'day', visited, 'place', companion_count_visit(place, p_at, -1, p_actor));
end
$$;
comment on function companion_unvisit_place is 'Takes a visit back, and its count. outcome: undone, missing.';

create or replace function companion_log_location(
    p_id uuid, p_lat double precision, p_lng double precision, p_accuracy double precision, p_day date, p_at timestamptz,
    p_actor jsonb, p_every_s integer default 300, p_radius_km double precision default 0.1
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    latest timestamptz;
    near uuid;
    km double precision;
    made companion_location_logs;
begin
    perform pg_advisory_xact_lock(hashtextextended('companion_location_logs', 0));
    if exists (select from companion_location_logs where id = p_id) then
        return json_build_object('outcome', 'same');
    end if;
    select max(at) into latest from companion_location_logs where kind = 'log' and deleted_at is null;
    if p_at < latest + make_interval(secs => p_every_s) then
        return json_build_object('outcome', 'early',
            'wait_s', ceil(extract(epoch from latest + make_interval(secs => p_every_s) - p_at)));
    end if;
    select p.id into near from companion_places p
    where p.deleted_at is null and companion_km(p_lat, p_lng, p.lat, p.lng) <= p_radius_km
    order by companion_km(p_lat, p_lng, p.lat, p.lng), p.id limit 1;
    select companion_km(p_lat, p_lng, l.lat, l.lng) into km from companion_location_logs l
    where l.day = p_day and l.deleted_at is null and l.at <= p_at order by l.at desc, l.id limit 1;
    insert into companion_location_logs (id, lat, lng, accuracy, place_id, distance_km, day, at, created_at, last_actor)
    values (p_id, p_lat, p_lng, p_accuracy, near, coalesce(km, 0), p_day, p_at, p_at, p_actor)
    returning * into made;
    return json_build_object('outcome', 'logged', 'log', to_jsonb(made),
        'place', case when near is null then null else companion_count_visit(near, p_at, 1, p_actor) end);
end
$$;
comment on function companion_log_location is
    'Notes a position, at most one in p_every_s; at a known place it counts as a visit. outcome: logged, same, early (wait_s).';

create or replace function companion_track(p_on boolean, p_at timestamptz, p_actor jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    made companion_tracking_sessions;
begin
    if p_on then
        insert into companion_tracking_sessions (started_at, last_actor) values (p_at, p_actor)
        on conflict do nothing returning * into made;
    else
        update companion_tracking_sessions s set stopped_at = p_at, updated_at = p_at, last_actor = p_actor, log_count = (
            select count(*) from companion_location_logs l
            where l.kind = 'log' and l.deleted_at is null and l.at >= s.started_at and l.at <= p_at)
        where stopped_at is null returning * into made;
    end if;
    return case when made.id is null then null else to_json(made) end;
end
$$;
comment on function companion_track(boolean, timestamptz, jsonb) is 'Starts or stops tracking; null where it is so already.';

-- What holds from now on; goals that are not named stay.
create or replace function companion_set_nutrition_goals(p_id uuid, p_set jsonb, p_at timestamptz, p_actor jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    former jsonb;
    made companion_nutrition_goals;
begin
    perform pg_advisory_xact_lock(hashtextextended('companion_nutrition_goals', 0));
    if exists (select from companion_nutrition_goals where id = p_id) then
        return json_build_object('outcome', 'same');
    end if;
    former := companion_nutrition_goal()::jsonb;
    if former || p_set = former then
        return json_build_object('outcome', 'same', 'row', former);
    end if;
    insert into companion_nutrition_goals (
        id, daily_calories, daily_protein, daily_carbs, daily_fat, daily_fibre, daily_sugar, daily_water_ml, created_at, updated_at,
        last_actor, field_actors)
    select p_id, w.daily_calories, w.daily_protein, w.daily_carbs, w.daily_fat, w.daily_fibre, w.daily_sugar, w.daily_water_ml,
           p_at, p_at, p_actor,
           coalesce(former -> 'field_actors', '{}') || companion_field_actors(array(select jsonb_object_keys(p_set)), p_actor)
    from jsonb_populate_record(null::companion_nutrition_goals, former || p_set) w
    returning * into made;
    return json_build_object('outcome', 'set', 'before', former, 'row', to_jsonb(made));
end
$$;
comment on function companion_set_nutrition_goals is 'New daily goals beside those that stay. outcome: set, same.';

create or replace function companion_nutrition_goal() returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(
        (select to_json(g) from companion_nutrition_goals g where deleted_at is null order by n desc limit 1),
        json_build_object('daily_calories', 2000, 'daily_protein', 50, 'daily_carbs', 275, 'daily_fat', 78, 'daily_fibre', 28,
                          'daily_sugar', 50, 'daily_water_ml', 2500))
$$;
comment on function companion_nutrition_goal() is 'The daily goals that hold now, the defaults where nobody has set any.';

-- What happens once a day: whoever comes first has the event written with it.
create or replace function companion_claim_day(p_kind text, p_day date, p_event jsonb) returns json
language plpgsql set search_path = public, extensions as $$
begin
    insert into companion_claimed_days (kind, day) values (p_kind, p_day) on conflict do nothing;
    if not found then
        return json_build_object('claimed', false);
    end if;
    perform companion_append_events(jsonb_build_array(p_event));
    return json_build_object('claimed', true);
end
$$;
comment on function companion_claim_day(text, date, jsonb) is 'Notes that something happened on a day, with its event, once.';

revoke execute on function companion_record_table, companion_field_actors, companion_insert_record, companion_change_record,
    companion_undo_drink, companion_km, companion_count_visit, companion_visit_place, companion_unvisit_place,
    companion_log_location, companion_track, companion_set_nutrition_goals, companion_nutrition_goal, companion_claim_day
    from public, anon, authenticated;
grant execute on function companion_record_table, companion_field_actors, companion_insert_record, companion_change_record,
    companion_undo_drink, companion_km, companion_count_visit, companion_visit_place, companion_unvisit_place,
    companion_log_location, companion_track, companion_set_nutrition_goals, companion_nutrition_goal, companion_claim_day
    to service_role;
