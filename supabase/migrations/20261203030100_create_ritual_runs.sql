-- Runs of routines. Every change is a compare-and-set on the row of the run: of two tabs that press at once one does the step.
select set_config('search_path', 'public, extensions', true);

create or replace function companion_ritual_start(
    p_id uuid, p_log uuid, p_day date, p_at timestamptz, p_actor jsonb, p_event jsonb
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    r companion_rituals;
    l companion_ritual_logs;
    n integer;
begin
    select * into r from companion_rituals x where x.id = p_id and x.deleted_at is null for update;
    if r.id is null then
        return json_build_object('outcome', 'missing', 'run', null);
    elsif r.status <> 'active' then
        return json_build_object('outcome', r.status, 'run', null);
    end if;
    update companion_ritual_logs x set status = 'aborted', ended_at = p_at
    where x.ritual_id = p_id and x.status = 'running' and x.day <> p_day;
    select * into l from companion_ritual_logs x where x.ritual_id = p_id and x.status = 'running';
    if l.id is not null then
        return json_build_object('outcome', 'joined', 'run', row_to_json(l));
    end if;
    select count(*) into n from companion_ritual_steps s where s.ritual_id = p_id;
    insert into companion_ritual_logs (id, ritual_id, version, day, total, actor, started_at)
    values (p_log, p_id, r.version, p_day, n, p_actor, p_at) on conflict do nothing returning * into l;
    if l.id is null then
        -- The same press once more, after its run was over.
        select * into l from companion_ritual_logs x where x.id = p_log;
        return json_build_object('outcome', 'same', 'run', row_to_json(l));
    end if;
    perform desk_append_event(p_event, jsonb_build_object('total', n));
    return json_build_object('outcome', 'started', 'run', row_to_json(l));
end
$$;
comment on function companion_ritual_start is
    'Begins a run, or joins the one of the day that is under way. outcome: started, joined, same, paused, archived or missing.';

-- Counts what is done; the last step closes the run, with its event in the same transaction.
create or replace function companion_ritual_settle(
    p_run companion_ritual_logs, p_results jsonb, p_at timestamptz, p_event jsonb
) returns companion_ritual_logs
language plpgsql set search_path = public, extensions as $$
declare
    l companion_ritual_logs;
    n integer := (select count(*) from jsonb_each(p_results) e where e.value ->> 'status' = 'done');
begin
    update companion_ritual_logs x set results = p_results, completed = n,
        status = case when n = x.total then 'completed' else x.status end,
        completed_at = case when n = x.total then p_at end, ended_at = case when n = x.total then p_at end
    where x.id = p_run.id returning * into l;
    if l.status = 'completed' then
        perform desk_append_event(p_event, jsonb_build_object('completed', n, 'total', l.total));
    end if;
    return l;
end
$$;
comment on function companion_ritual_settle is 'Stores the results of a run that is locked; closes it when every step is done.';

-- p_item: of a checklist. p_lost_s: a step that began so long ago and never told its end may be taken again.
create or replace function companion_ritual_take(
    p_log uuid, p_pos integer, p_item integer, p_try uuid, p_at timestamptz, p_lost_s integer default 120
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    l companion_ritual_logs;
    place text[] := array[p_pos::text] || case when p_item is null then '{}'::text[] else array['items', p_item::text] end;
    step jsonb;
    entry jsonb;
    kept jsonb;
begin
    select * into l from companion_ritual_logs x where x.id = p_log for update;
    if l.id is null then
        return json_build_object('outcome', 'missing', 'run', null);
    end if;
    if l.results #>> array[p_pos::text, 'status'] = 'done' or l.results #>> (place || array['status']) = 'done' then
        return json_build_object('outcome', 'done', 'run', row_to_json(l));
    elsif l.status <> 'running' then
        return json_build_object('outcome', 'closed', 'run', row_to_json(l));
    elsif p_pos is null or p_pos < 0 or p_pos >= l.total then
        return json_build_object('outcome', 'missing', 'run', row_to_json(l));
    end if;
    step := coalesce(l.results -> (p_pos::text), '{"status": "open"}');
    entry := l.results #> place;
    if entry ->> 'status' = 'running' and (entry ->> 'at')::timestamptz > p_at - make_interval(secs => p_lost_s) then
        return json_build_object('outcome', 'running', 'run', row_to_json(l));
    end if;
    kept := jsonb_build_object('status', 'running', 'at', p_at, 'try', p_try);
    if p_item is null then
        step := kept;
    else
        step := step || jsonb_build_object('status', 'open', 'items', coalesce(step -> 'items', '{}') || jsonb_build_object(p_item, kept));
    end if;
    update companion_ritual_logs x set results = x.results || jsonb_build_object(p_pos, step) where x.id = p_log returning * into l;
    return json_build_object('outcome', 'taken', 'run', row_to_json(l));
end
$$;
comment on function companion_ritual_take is
    'Takes a step, or an item of it, to be run by this caller alone. outcome: taken, done, running, closed or missing.';

create or replace function companion_ritual_put(
    p_log uuid, p_pos integer, p_item integer, p_items integer, p_try uuid, p_result jsonb, p_at timestamptz, p_event jsonb
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    l companion_ritual_logs;
    place text[] := array[p_pos::text] || case when p_item is null then '{}'::text[] else array['items', p_item::text] end;
    step jsonb;
    items jsonb;
begin
    select * into l from companion_ritual_logs x where x.id = p_log for update;
    if l.id is null or l.results #>> (place || array['try']) is distinct from p_try::text then
        return json_build_object('outcome', 'lost', 'run', row_to_json(l));
    end if;
    if p_item is null then
        step := p_result;
    else
        step := l.results -> (p_pos::text);
        items := step -> 'items' || jsonb_build_object(p_item, p_result);
        step := step || jsonb_build_object('items', items, 'at', p_at, 'status', case
            when (select count(*) from jsonb_each(items) i where i.value ->> 'status' = 'done') = p_items then 'done' else 'open' end);
    end if;
    -- What was done stands in the log also where the run was closed meanwhile; only a run under way can be completed.
    if l.status <> 'running' then
        update companion_ritual_logs x set results = x.results || jsonb_build_object(p_pos, step), completed = (
            select count(*) from jsonb_each(x.results || jsonb_build_object(p_pos, step)) e where e.value ->> 'status' = 'done')
        where x.id = p_log returning * into l;
    else
        l := companion_ritual_settle(l, l.results || jsonb_build_object(p_pos, step), p_at, p_event);
    end if;
    return json_build_object('outcome', 'stored', 'run', row_to_json(l));
end
$$;
comment on function companion_ritual_put is 'Stores what a step that was taken came to. outcome: stored, or lost where another has taken it.';

-- Steps that run nothing: shown (done) or skipped. One that is done stays so, and one that is running is left alone.
create or replace function companion_ritual_mark(
    p_log uuid, p_positions integer[], p_status text, p_at timestamptz, p_event jsonb
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    l companion_ritual_logs;
    found jsonb;
begin
    if p_status is null or p_status not in ('done', 'skipped') then
        raise exception 'p_status must be done or skipped' using errcode = '22023';
    end if;
    select * into l from companion_ritual_logs x where x.id = p_log for update;
    if l.id is null then
        return json_build_object('outcome', 'missing', 'run', null);
    elsif l.status <> 'running' then
        return json_build_object('outcome', 'closed', 'run', row_to_json(l));
    end if;
    select jsonb_object_agg(p::text, coalesce(l.results -> (p::text), '{}') || jsonb_build_object('status', p_status, 'at', p_at))
    into found from unnest(p_positions) p
    where p between 0 and l.total - 1 and coalesce(l.results #>> array[p::text, 'status'], 'open') not in ('done', 'running', p_status);
    if found is null then
        return json_build_object('outcome', 'unchanged', 'run', row_to_json(l));
    end if;
    l := companion_ritual_settle(l, l.results || found, p_at, p_event);
    return json_build_object('outcome', 'stored', 'run', row_to_json(l));
end
$$;
comment on function companion_ritual_mark is 'Marks steps as shown or skipped. outcome: stored, unchanged, closed or missing.';

create or replace function companion_ritual_end(p_log uuid, p_status text, p_at timestamptz, p_event jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    l companion_ritual_logs;
begin
    if p_status is null or p_status not in ('ended', 'aborted') then
        raise exception 'p_status must be ended or aborted' using errcode = '22023';
    end if;
    update companion_ritual_logs x set status = p_status, ended_at = p_at where x.id = p_log and x.status = 'running' returning * into l;
    if l.id is null then
        select * into l from companion_ritual_logs x where x.id = p_log;
        return json_build_object('outcome', case when l.id is null then 'missing' else 'closed' end, 'run', row_to_json(l));
    end if;
    perform desk_append_event(p_event, jsonb_build_object('completed', l.completed, 'total', l.total));
    return json_build_object('outcome', 'stored', 'run', row_to_json(l));
end
$$;
comment on function companion_ritual_end is 'Closes a run before every step is done. outcome: stored, closed (it was over) or missing.';

create or replace function companion_ritual_runs(
    p_id uuid default null, p_limit integer default 25, p_offset integer default 0
) returns json
language sql stable set search_path = public, extensions as $$
    select json_build_object(
        'rows', (select coalesce(json_agg(row_to_json(x) order by x.started_at desc, x.id desc), '[]') from (
            select l.*, r.title, r.deleted_at is not null as deleted
            from companion_ritual_logs l join companion_rituals r on r.id = l.ritual_id
            where p_id is null or l.ritual_id = p_id
            order by l.started_at desc, l.id desc
            limit greatest(0, least(coalesce(p_limit, 25), 500)) offset greatest(0, coalesce(p_offset, 0))) x),
        'total', (select count(*) from companion_ritual_logs l where p_id is null or l.ritual_id = p_id))
$$;
comment on function companion_ritual_runs(uuid, integer, integer) is 'Runs of one routine or of all, newest first.';

create or replace function companion_ritual_tend(p_day date, p_at timestamptz, p_keep_days integer default 400) returns json
language plpgsql set search_path = public, extensions as $$
declare
    closed bigint;
    gone bigint;
begin
    update companion_ritual_logs set status = 'aborted', ended_at = p_at where status = 'running' and day < p_day;
    get diagnostics closed = row_count;
    delete from companion_ritual_logs where day < p_day - p_keep_days;
    get diagnostics gone = row_count;
    return json_build_object('aborted', closed, 'deleted', gone);
end
$$;
comment on function companion_ritual_tend is 'Closes runs that were left on an earlier day and deletes those of long ago.';

revoke execute on function companion_ritual_start, companion_ritual_settle, companion_ritual_take, companion_ritual_put,
    companion_ritual_mark, companion_ritual_end, companion_ritual_runs, companion_ritual_tend from public, anon, authenticated;
grant execute on function companion_ritual_start, companion_ritual_settle, companion_ritual_take, companion_ritual_put,
    companion_ritual_mark, companion_ritual_end, companion_ritual_runs, companion_ritual_tend to service_role;
