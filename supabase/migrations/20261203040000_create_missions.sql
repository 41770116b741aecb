-- Missions: what an AI works on, round by round, and each of its runs. Who runs one holds a lease on it; a run is closed by
-- whoever holds that, once, with its event in the same transaction.
select set_config('search_path', 'public, extensions', true);

create table if not exists companion_missions (
    id uuid primary key,
    title text not null check (title <> ''),
    concept text not null default '',
    objective text not null check (objective <> ''),
    cadence jsonb not null default '{"kind": "manual"}',
    planner text not null check (planner in ('rules', 'llm')),
    template text check ((planner = 'rules') = (template is not null)),
    state text not null default 'active' check (state in ('active', 'paused', 'done', 'archived')),
    next_run_at timestamptz,
    token_budget integer not null default 50000 check (token_budget >= 0),
    fail_count integer not null default 0,
    lease_owner text,
    lease_until timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    deleted_at timestamptz
);
comment on table companion_missions is 'What an AI works on. Its words are the operator''s; dialogs stand among its inputs alone.';
comment on column companion_missions.template is 'The plan by rules, for a mission that asks no model.';
comment on column companion_missions.fail_count is 'Runs that failed in a row.';
create index if not exists companion_missions_due_idx on companion_missions (next_run_at, id)
    where state = 'active' and deleted_at is null;

-- An erasure deletes the rows of a dialog here, and a merge moves them: a mission never names an erased one.
create table if not exists companion_mission_inputs (
    id uuid primary key default gen_random_uuid(),
    mission_id uuid not null references companion_missions (id) on delete cascade,
    position integer not null,
    module text not null,
    kind text not null,
    ref text,
    dialog_key text,
    check ((ref is null) <> (dialog_key is null))
);
comment on table companion_mission_inputs is 'What a mission is told: references, resolved at each run.';
create index if not exists companion_mission_inputs_mission_idx on companion_mission_inputs (mission_id, position);
create index if not exists companion_mission_inputs_key_idx on companion_mission_inputs (dialog_key) where dialog_key is not null;

create table if not exists companion_iterations (
    id uuid primary key,
    mission_id uuid not null references companion_missions (id) on delete cascade,
    status text not null default 'running'
        check (status in ('running', 'awaiting-review', 'approved', 'rejected', 'failed')),
    source text not null check (source in ('foreground', 'server')),
    owner text not null,
    steps jsonb not null default '[]' check (jsonb_typeof(steps) = 'array'),
    notices jsonb not null default '[]' check (jsonb_typeof(notices) = 'array'),
    summary text,
    feedback text,
    error jsonb,
    tier text,
    phase text not null default 'resolving-inputs',
    phase_at timestamptz not null,
    cancel_requested boolean not null default false,
    started_at timestamptz not null,
    finished_at timestamptz
);
comment on table companion_iterations is 'Runs of missions: what was planned, what became of each step, what people said of it.';
comment on column companion_iterations.steps is 'id, summary, tool, params, rationale, status, proposal_id, message, latency_ms; in order.';
comment on column companion_iterations.error is 'name, message, phase.';
create unique index if not exists companion_iterations_running_key on companion_iterations (mission_id) where status = 'running';
create index if not exists companion_iterations_mission_idx on companion_iterations (mission_id, started_at desc, id desc);
create index if not exists companion_iterations_steps_idx on companion_iterations using gin (steps jsonb_path_ops);

create table if not exists companion_iteration_dialogs (
    id uuid primary key default gen_random_uuid(),
    iteration_id uuid not null references companion_iterations (id) on delete cascade,
    dialog_key text not null
);
comment on table companion_iteration_dialogs is 'The dialogs that a run was about: whoever erases one empties the run.';
create index if not exists companion_iteration_dialogs_key_idx on companion_iteration_dialogs (dialog_key);
create index if not exists companion_iteration_dialogs_iteration_idx on companion_iteration_dialogs (iteration_id);

-- A merge takes a row out and puts it back in one statement: that is no erasure.
create or replace function companion_forget_iterations() returns trigger
language plpgsql set search_path = public, extensions as $$
begin
    update companion_iterations i set steps = '[]', notices = '[]', summary = null, feedback = null, error = i.error - 'message',
        status = case when i.status = 'awaiting-review' then 'rejected' else i.status end
    from gone g
    where i.id = g.iteration_id and not exists (select from companion_iteration_dialogs d where d.id = g.id);
    return null;
end
$$;
comment on function companion_forget_iterations() is 'Empties the runs that were about an erased dialog.';
drop trigger if exists companion_forget_iterations on companion_iteration_dialogs;
create trigger companion_forget_iterations after delete on companion_iteration_dialogs
    referencing old table as gone for each statement execute function companion_forget_iterations();

-- What became of a proposal is what became of its step; once none waits, the run is approved where one of them was.
create or replace function companion_settle_iteration(p_id uuid) returns void
language plpgsql set search_path = public, extensions as $$
begin
    update companion_iterations i set steps = coalesce((
        select jsonb_agg(case when p.id is null then s.step else s.step || jsonb_strip_nulls(jsonb_build_object(
            'status', case p.status when 'pending' then 'staged' when 'expired' then 'skipped' when 'rejected' then 'rejected'
                      else case when p.result ->> 'success' = 'false' then 'failed' else 'approved' end end,
            'message', left(case p.status when 'approved' then p.result ->> 'message' when 'rejected' then p.feedback
                            when 'expired' then 'Nobody decided in time.' end, 2000))) end order by s.n)
        from jsonb_array_elements(i.steps) with ordinality s(step, n)
        left join companion_proposals p on p.id::text = s.step ->> 'proposal_id'), '[]')
    where i.id = p_id;
    update companion_iterations i set status = case when f.approved then 'approved' else 'rejected' end
    from (select count(*) filter (where p.status = 'pending') as waiting, bool_or(p.status = 'approved') as approved
          from companion_iterations x, jsonb_array_elements(x.steps) s join companion_proposals p on p.id::text = s ->> 'proposal_id'
          where x.id = p_id) f
    where i.id = p_id and i.status = 'awaiting-review' and f.waiting = 0 and f.approved is not null;
end
$$;
comment on function companion_settle_iteration(uuid) is 'Writes the fate of its proposals into the steps of a run.';

-- A failure here never undoes the decision.
create or replace function companion_follow_proposal() returns trigger
language plpgsql set search_path = public, extensions as $$
declare
    run uuid;
begin
    for run in select id from companion_iterations where steps @> jsonb_build_array(jsonb_build_object('proposal_id', new.id)) loop
        if new.status = 'rejected' and old.status = 'pending' and new.feedback is not null then
            update companion_iterations set feedback = concat_ws(E'\n', feedback, new.feedback) where id = run;
        end if;
        perform companion_settle_iteration(run);
    end loop;
    return null;
exception when others then
    raise warning 'the run of proposal % was not updated: %', new.id, sqlstate;
    return null;
end
$$;
comment on function companion_follow_proposal() is 'Writes the fate of a proposal into the step that made it, its reason into the run.';
drop trigger if exists companion_follow_proposal on companion_proposals;
create trigger companion_follow_proposal after update of status, result on companion_proposals
    for each row when (old.status is distinct from new.status or old.result is distinct from new.result)
    execute function companion_follow_proposal();

alter table companion_missions enable row level security;
alter table companion_mission_inputs enable row level security;
alter table companion_iterations enable row level security;
alter table companion_iteration_dialogs enable row level security;
revoke all on companion_missions, companion_mission_inputs, companion_iterations, companion_iteration_dialogs
    from public, anon, authenticated;
grant all on companion_missions, companion_mission_inputs, companion_iterations, companion_iteration_dialogs to service_role;

revoke execute on function companion_forget_iterations, companion_settle_iteration, companion_follow_proposal
    from public, anon, authenticated;
grant execute on function companion_settle_iteration to service_role;
