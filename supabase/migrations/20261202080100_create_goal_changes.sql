-- What people do with goals, each with its event in the same transaction; and the list that every page reads.
select set_config('search_path', 'public, extensions', true);

create or replace function companion_goal_save(
    p_goal jsonb, p_day date, p_zone text, p_actor jsonb, p_event jsonb, p_mark jsonb
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    g companion_goals;
    before companion_goals;
    outcome text := 'changed';
    events jsonb := '[]';
    known uuid;
begin
    select * into before from companion_goals x where x.id = (p_goal ->> 'id')::uuid for update;
    select x.id into known from companion_goals x
    where lower(x.title) = lower(p_goal ->> 'title') and x.status = 'active' and x.deleted_at is null
      and x.id <> (p_goal ->> 'id')::uuid;
    if known is not null then
        return json_build_object('outcome', 'duplicate', 'id', known, 'events', '[]'::jsonb);
    end if;
    if before.id is null then
        outcome := 'created';
        insert into companion_goals (id, title, description, module, linked_modules, template_id, metric, target, period_start,
                                     zone, counted_from, last_actor)
        select (p_goal ->> 'id')::uuid, p_goal ->> 'title', p_goal ->> 'description', p_goal ->> 'module',
               array(select jsonb_array_elements_text(coalesce(p_goal -> 'linked_modules', '[]'))), p_goal ->> 'template_id',
               p_goal -> 'metric', p_goal -> 'target', companion_period_start(p_day, p_goal #>> '{target,period}'), p_zone,
               (companion_period_start(p_day, p_goal #>> '{target,period}') - 1)::timestamp at time zone p_zone, p_actor
        on conflict do nothing
        returning * into g;
        if g.id is null then
            return json_build_object('outcome', 'duplicate', 'id', null, 'events', '[]'::jsonb);
        end if;
    else
        if before.deleted_at is not null then
            return json_build_object('outcome', 'missing', 'id', null, 'events', '[]'::jsonb);
        end if;
        update companion_goals x set
            title = p_goal ->> 'title', description = p_goal ->> 'description', module = p_goal ->> 'module',
            linked_modules = array(select jsonb_array_elements_text(coalesce(p_goal -> 'linked_modules', '[]'))),
            metric = p_goal -> 'metric', target = p_goal -> 'target', last_actor = p_actor, updated_at = clock_timestamp()
        where x.id = before.id returning * into g;
        -- Another thing is counted, or by another period: what was counted before says nothing about it.
        if g.metric <> before.metric or g.target ->> 'period' <> before.target ->> 'period' then
            delete from companion_goal_entries e where e.goal_id = g.id;
            delete from companion_goal_periods p where p.goal_id = g.id;
            update companion_goals x set current_value = null, zone = p_zone, recounted_at = null,
                period_start = companion_period_start(p_day, g.target ->> 'period'),
                counted_from = (companion_period_start(p_day, g.target ->> 'period') - 1)::timestamp at time zone p_zone
            where x.id = g.id;
        end if;
    end if;
    perform companion_append_events(jsonb_build_array(p_event));
    if g.status = 'active' then
        events := (companion_goal_recount(p_day, p_zone, p_mark, g.id) ->> 'events')::jsonb;
    end if;
    return json_build_object('outcome', outcome, 'id', g.id, 'events', events);
end
$$;
comment on function companion_goal_save(jsonb, date, text, jsonb, jsonb, jsonb) is
    'Makes or changes a goal and counts what happened in its period so far. outcome: created, changed, duplicate or missing.';

create or replace function companion_goal_status(
    p_id uuid, p_status text, p_day date, p_zone text, p_actor jsonb, p_event jsonb, p_mark jsonb
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    g companion_goals;
    begins date;
    was text;
    events jsonb := '[]';
begin
    if p_status not in ('active', 'paused', 'completed', 'abandoned', 'deleted', 'restored') then
        raise exception 'a goal is not %', p_status using errcode = '22023';
    end if;
    events := companion_goal_roll_one(p_id, p_day, p_zone, p_mark);
    select * into g from companion_goals x where x.id = p_id for update;
    was := case when g.deleted_at is not null then 'deleted' else g.status end;
    if g.id is null or was = p_status or (was = 'deleted') <> (p_status = 'restored') then
        return json_build_object('outcome', 'unchanged', 'before', was, 'events', events);
    end if;
    if (p_status = 'active' or (p_status = 'restored' and g.status = 'active')) and exists (
        select 1 from companion_goals x
        where lower(x.title) = lower(g.title) and x.status = 'active' and x.deleted_at is null and x.id <> g.id) then
        return json_build_object('outcome', 'duplicate', 'before', was, 'events', events);
    end if;
    if p_status = 'deleted' then
        update companion_goals x set deleted_at = (p_mark ->> 'ts')::timestamptz, last_actor = p_actor where x.id = p_id;
    elsif p_status = 'restored' then
        update companion_goals x set deleted_at = null, last_actor = p_actor where x.id = p_id returning * into g;
    else
        update companion_goals x set status = p_status, last_actor = p_actor, updated_at = clock_timestamp()
        where x.id = p_id returning * into g;
    end if;
    -- It moves again from now on: what lies between is not counted, and periods it did not live through have no row.
    if g.status = 'active' and p_status in ('active', 'restored') then
        begins := companion_period_start(p_day, g.target ->> 'period');
        if g.period_start < begins then
            insert into companion_goal_periods as p (goal_id, period_start, period_end, value, closed_at, zone)
            values (g.id, g.period_start, companion_period_next(g.period_start, g.target ->> 'period') - 1, g.current_value,
                    (p_mark ->> 'ts')::timestamptz, g.zone)
            on conflict (goal_id, period_start) do update set value = excluded.value, closed_at = excluded.closed_at,
                reached = case when p.reached_at is not null then true end;
            update companion_goals x set period_start = begins, zone = p_zone,
                current_value = companion_goal_value(g.id, begins, g.metric) where x.id = p_id;
        end if;
        update companion_goals x set counted_from = (p_mark ->> 'ts')::timestamptz where x.id = p_id;
    end if;
    perform companion_append_events(jsonb_build_array(case when p_event -> 'payload' ? 'new_status'
        then jsonb_set(p_event, '{payload}', (p_event -> 'payload') || jsonb_build_object(
            'old_status', was, 'new_status', case when p_status = 'restored' then g.status else p_status end))
        else p_event end));
    return json_build_object('outcome', 'changed', 'before', was, 'events', events);
end
$$;
comment on function companion_goal_status(uuid, text, date, text, jsonb, jsonb, jsonb) is
    'Pauses, resumes, completes, abandons, deletes or restores a goal. outcome: changed, unchanged or duplicate.';

create or replace function companion_goal_list(p_day date, p_history integer default 14) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(json_build_object(
        'id', g.id, 'title', g.title, 'description', g.description, 'module', g.module, 'linked_modules', g.linked_modules,
        'template_id', g.template_id, 'metric', g.metric, 'target', g.target, 'status', g.status, 'zone', g.zone,
        -- A new period begins with nothing, also where no event came that would have begun it.
        'value', case when not s.over then g.current_value when g.metric ->> 'source' in ('event_count', 'event_sum') then 0 end,
        'period_start', s.begins, 'period_end', companion_period_next(s.begins, g.target ->> 'period') - 1,
        'reached_at', p.reached_at, 'exceeded_at', p.exceeded_at, 'created_at', g.created_at,
        'history', coalesce((
            select json_agg(h order by h.period_start) from (
                select x.period_start, x.period_end, x.value, x.reached, x.zone from companion_goal_periods x
                where x.goal_id = g.id and x.closed_at is not null
                order by x.period_start desc limit greatest(0, least(p_history, 400))) h), '[]'::json)
    ) order by case g.status when 'active' then 0 when 'paused' then 1 else 2 end, g.created_at, g.id), '[]'::json)
    from companion_goals g
    cross join lateral (
        select g.status = 'active' and g.period_start < companion_period_start(p_day, g.target ->> 'period') as over,
               case when g.status = 'active' then greatest(g.period_start, companion_period_start(p_day, g.target ->> 'period'))
                    else g.period_start end as begins) s
    left join companion_goal_periods p on p.goal_id = g.id and p.period_start = s.begins
    where g.deleted_at is null
$$;
comment on function companion_goal_list(date, integer) is 'Every goal with its present period and the periods before, oldest first.';

create or replace function companion_goal_running() returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(json_build_object(
        'id', g.id, 'title', g.title, 'description', g.description, 'module', g.module, 'linked_modules', g.linked_modules,
        'template_id', g.template_id, 'metric', g.metric, 'target', g.target, 'status', g.status, 'zone', g.zone,
        'value', g.current_value, 'period_start', g.period_start,
        'period_end', companion_period_next(g.period_start, g.target ->> 'period') - 1,
        'reached_at', null, 'exceeded_at', null, 'history', '[]'::json) order by g.id), '[]'::json)
    from companion_goals g where g.status = 'active' and g.deleted_at is null
$$;
comment on function companion_goal_running() is 'The active goals in the period that is stored, which may be over.';

do $$
declare
    name text;
begin
    for name in select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
                where n.nspname = 'public' and (p.proname like 'companion\_goal\_%'
                    or p.proname in ('companion_period_start', 'companion_period_next', 'companion_event_day')) loop
        execute format('revoke all on function %s from public, anon, authenticated', name);
        execute format('grant execute on function %s to service_role', name);
    end loop;
end $$;

notify pgrst, 'reload schema';
