-- Missions and their runs, as the companion changes and reads them.
create or replace function companion_mission_save(p_mission jsonb, p_inputs jsonb, p_now timestamptz, p_event jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    given companion_missions := jsonb_populate_record(null::companion_missions, p_mission);
    old companion_missions;
begin
    select * into old from companion_missions where id = given.id for update;
    if old.deleted_at is not null then
        return json_build_object('outcome', 'missing');
    end if;
    -- The next run is another one only where the cadence is; a mission that does not run has none.
    insert into companion_missions as m (id, title, concept, objective, cadence, planner, template, token_budget, next_run_at,
                                         created_at, updated_at)
    values (given.id, given.title, coalesce(given.concept, ''), given.objective, given.cadence, given.planner, given.template,
            given.token_budget, given.next_run_at, p_now, p_now)
    on conflict (id) do update set
        title = excluded.title, concept = excluded.concept, objective = excluded.objective, cadence = excluded.cadence,
        planner = excluded.planner, template = excluded.template, token_budget = excluded.token_budget, updated_at = p_now,
        next_run_at = case when m.cadence is distinct from excluded.cadence and m.state in ('active', 'paused')
                           then excluded.next_run_at else m.next_run_at end;
    delete from companion_mission_inputs where mission_id = given.id;
    insert into companion_mission_inputs (mission_id, position, module, kind, ref, dialog_key)
    select given.id, i.n, i.one ->> 'module', i.one ->> 'kind', i.one ->> 'ref', i.one ->> 'dialog_key'
    from jsonb_array_elements(p_inputs) with ordinality i(one, n);
    perform desk_append_event(p_event, '{}');
    return json_build_object('outcome', case when old.id is null then 'created' else 'changed' end);
end
$$;
comment on function companion_mission_save is 'Makes or changes a mission with its inputs. outcome: created, changed, missing.';

-- p_state: active, paused, done, archived, deleted or restored. Pausing keeps the next run, the end of it all clears it.
create or replace function companion_mission_state(p_id uuid, p_state text, p_next timestamptz, p_now timestamptz, p_event jsonb)
returns json
language plpgsql set search_path = public, extensions as $$
declare
    old companion_missions;
begin
    if p_state is null or p_state not in ('active', 'paused', 'done', 'archived', 'deleted', 'restored') then
        raise exception 'p_state is not known' using errcode = '22023';
    end if;
    select * into old from companion_missions where id = p_id for update;
    if old.id is null or (old.deleted_at is not null and p_state <> 'restored') then
        return json_build_object('outcome', 'missing', 'before', null);
    end if;
    if p_state = old.state or (p_state = 'restored' and old.deleted_at is null) then
        return json_build_object('outcome', 'unchanged', 'before', old.state);
    end if;
    update companion_missions m set
        state = case when p_state in ('deleted', 'restored') then m.state else p_state end,
        deleted_at = case p_state when 'deleted' then p_now when 'restored' then null else m.deleted_at end,
        next_run_at = case p_state when 'active' then p_next when 'done' then null when 'archived' then null else m.next_run_at end,
        fail_count = case when p_state = 'active' then 0 else m.fail_count end, updated_at = p_now
    where m.id = p_id;
    if p_state in ('done', 'archived', 'deleted') then
        update companion_iterations set cancel_requested = true where mission_id = p_id and status = 'running';
    end if;
    perform desk_append_event(p_event, jsonb_build_object('old_state', old.state));
    return json_build_object('outcome', 'changed', 'before', old.state);
end
$$;
comment on function companion_mission_state is 'Moves a mission to another state. outcome: changed, unchanged, missing; and the state before.';

-- One row a mission: its fields, its inputs, its latest run, how many runs there were, how many proposals of it wait.
create or replace function companion_mission_list(
    p_now timestamptz, p_id uuid default null, p_due boolean default false, p_archived boolean default true, p_limit integer default 200
) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(x.row order by x.rank, x.next_run_at nulls last, x.created_at desc, x.id), '[]')
    from (
        select m.id, m.next_run_at, m.created_at,
            array_position(array['active', 'paused', 'done', 'archived'], m.state) as rank,
            to_jsonb(m) - 'lease_owner' || jsonb_build_object(
                'inputs', (select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object('module', i.module, 'kind', i.kind,
                               'ref', i.ref, 'dialog_key', i.dialog_key)) order by i.position), '[]')
                           from companion_mission_inputs i where i.mission_id = m.id),
                'latest', (select to_jsonb(r) - 'owner' from companion_iterations r where r.mission_id = m.id
                           order by r.started_at desc, r.id desc limit 1),
                'iterations', (select count(*) from companion_iterations r where r.mission_id = m.id),
                'waiting', (select count(*) from companion_proposals p where p.mission_id = m.id::text and p.status = 'pending'
                              and coalesce(p.expires_at >= p_now, true))) as row
        from companion_missions m
        where m.deleted_at is null and (p_id is null or m.id = p_id) and (p_archived or m.state <> 'archived')
          and (not p_due or (m.state = 'active' and m.next_run_at <= p_now and coalesce(m.lease_until <= p_now, true)))
        order by rank, m.next_run_at nulls last, m.created_at desc, m.id
        limit greatest(0, least(coalesce(p_limit, 200), 1000))) x
$$;
comment on function companion_mission_list is 'Missions with inputs and latest run; p_due: those that are to run now and that nobody runs.';

-- Compare and set: of those who ask at once one gets it, and a run that was due is taken once. What a former holder left
-- running is closed here: its lease has ended.
create or replace function companion_mission_claim(
    p_id uuid, p_owner text, p_iteration uuid, p_source text, p_due boolean, p_lease_s double precision, p_now timestamptz
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    found companion_missions;
    lost uuid;
begin
    update companion_missions m set lease_owner = p_owner, lease_until = p_now + make_interval(secs => p_lease_s)
    where m.id = p_id and m.deleted_at is null and m.state = 'active' and coalesce(m.lease_until <= p_now, true)
      and (not p_due or m.next_run_at <= p_now)
    returning * into found;
    if found.id is null then
        select * into found from companion_missions where id = p_id;
        return json_build_object('outcome', case
            when found.id is null or found.deleted_at is not null then 'missing'
            when found.state <> 'active' then found.state
            when found.lease_until > p_now then 'running' else 'not-due' end);
    end if;
    update companion_iterations set status = 'failed', finished_at = p_now,
        error = jsonb_build_object('name', 'Lost', 'message', 'The process that ran it is gone.', 'phase', phase)
    where mission_id = p_id and status = 'running'
    returning id into lost;
    insert into companion_iterations (id, mission_id, source, owner, phase_at, started_at)
    values (p_iteration, p_id, p_source, p_owner, p_now, p_now);
    insert into companion_iteration_dialogs (iteration_id, dialog_key)
    select distinct p_iteration, i.dialog_key from companion_mission_inputs i where i.mission_id = p_id and i.dialog_key is not null;
    return json_build_object('outcome', 'claimed', 'lost', lost);
end
$$;
comment on function companion_mission_claim is
    'Takes a mission and begins its run. outcome: claimed, running, not-due, missing, or the state it is in; lost: a run it closed.';

create or replace function companion_iteration_phase(
    p_id uuid, p_owner text, p_phase text, p_lease_s double precision, p_now timestamptz,
    p_steps jsonb default null, p_dialogs text[] default null
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    found companion_iterations;
begin
    update companion_iterations i set
        phase = coalesce(p_phase, i.phase), steps = coalesce(p_steps, i.steps),
        phase_at = case when p_phase is distinct from i.phase and p_phase is not null then p_now else i.phase_at end
    where i.id = p_id and i.owner = p_owner and i.status = 'running'
    returning * into found;
    if found.id is null then
        return json_build_object('held', false, 'cancel', false);
    end if;
    update companion_missions set lease_until = p_now + make_interval(secs => p_lease_s)
    where id = found.mission_id and lease_owner = p_owner;
    insert into companion_iteration_dialogs (iteration_id, dialog_key)
    select p_id, d from unnest(p_dialogs) d
    where not exists (select from companion_iteration_dialogs x where x.iteration_id = p_id and x.dialog_key = d) group by d;
    return json_build_object('held', true, 'cancel', found.cancel_requested);
end
$$;
comment on function companion_iteration_phase is
    'Says where a run is, what it did so far, and that its process lives. held: whether it is still its own; cancel: whether to stop.';

-- p_after: next_run_at, fail_count and paused of the mission; null for a run that was stopped, which changes neither.
create or replace function companion_iteration_finish(
    p_id uuid, p_owner text, p_outcome jsonb, p_after jsonb, p_now timestamptz, p_event jsonb
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    found companion_iterations;
begin
    update companion_iterations i set
        status = p_outcome ->> 'status', summary = p_outcome ->> 'summary', tier = p_outcome ->> 'tier',
        error = nullif(p_outcome -> 'error', 'null'), steps = coalesce(nullif(p_outcome -> 'steps', 'null'), i.steps),
        notices = coalesce(nullif(p_outcome -> 'notices', 'null'), i.notices),
        phase = coalesce(p_outcome ->> 'phase', i.phase), finished_at = p_now
    where i.id = p_id and i.owner = p_owner and i.status = 'running'
    returning * into found;
    if found.id is null then
        return json_build_object('stored', false);
    end if;
    update companion_missions m set
        lease_owner = null, lease_until = null,
        fail_count = coalesce((p_after ->> 'fail_count')::integer, m.fail_count),
        next_run_at = case when p_after is null or m.state not in ('active', 'paused') then m.next_run_at
                           else (p_after ->> 'next_run_at')::timestamptz end,
        state = case when (p_after ->> 'paused')::boolean and m.state = 'active' then 'paused' else m.state end
    where m.id = found.mission_id and m.lease_owner = p_owner;
    perform companion_settle_iteration(p_id);  -- a proposal may have been decided before its run was over
    perform desk_append_event(p_event, '{}');
    return json_build_object('stored', true);
end
$$;
comment on function companion_iteration_finish is 'Ends a run, once, and says when its mission runs next; with the event.';

create or replace function companion_iteration_stale(p_now timestamptz, p_after_s double precision) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(json_build_object('id', i.id, 'mission_id', i.mission_id, 'owner', i.owner, 'phase', i.phase)
                             order by i.started_at, i.id), '[]')
    from companion_iterations i join companion_missions m on m.id = i.mission_id
    where i.status = 'running' and i.started_at < p_now - make_interval(secs => p_after_s)
      and (coalesce(m.lease_until <= p_now, true) or m.lease_owner is distinct from i.owner)
$$;
comment on function companion_iteration_stale is 'Runs whose process is gone: long ago begun, and nobody holds their mission.';

create or replace function companion_iteration_list(
    p_mission uuid, p_id uuid default null, p_limit integer default 20, p_offset integer default 0
) returns json
language sql stable set search_path = public, extensions as $$
    select json_build_object(
        'rows', (select coalesce(json_agg(to_jsonb(x) - 'owner' order by x.started_at desc, x.id desc), '[]') from (
            select * from companion_iterations i where i.mission_id = p_mission and (p_id is null or i.id = p_id)
            order by i.started_at desc, i.id desc
            limit greatest(0, least(coalesce(p_limit, 20), 200)) offset greatest(0, coalesce(p_offset, 0))) x),
        'total', (select count(*) from companion_iterations i where i.mission_id = p_mission and (p_id is null or i.id = p_id)))
$$;
comment on function companion_iteration_list is 'The runs of a mission, newest first.';

create or replace function companion_iteration_cancel(p_id uuid) returns json
language plpgsql set search_path = public, extensions as $$
declare
    n bigint;
begin
    update companion_iterations set cancel_requested = true where id = p_id and status = 'running';
    get diagnostics n = row_count;
    return json_build_object('asked', n = 1);
end
$$;
comment on function companion_iteration_cancel is 'Asks a run to stop; false where it is over.';

create or replace function companion_iteration_feedback(p_id uuid, p_words text) returns json
language plpgsql set search_path = public, extensions as $$
declare
    n bigint;
begin
    update companion_iterations set feedback = nullif(btrim(p_words), '') where id = p_id;
    get diagnostics n = row_count;
    return json_build_object('stored', n = 1);
end
$$;
comment on function companion_iteration_feedback is 'What a person says of a run, for the next plan; in place of what was said before.';

do $$
declare
    name text;
begin
    for name in select p.oid::regprocedure::text from pg_proc p
                where p.pronamespace = 'public'::regnamespace and p.proname ~ '^companion_(mission|iteration)_' loop
        execute format('revoke all on function %s from public, anon, authenticated', name);
        execute format('grant execute on function %s to service_role', name);
    end loop;
end $$;

notify pgrst, 'reload schema';
