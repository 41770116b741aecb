-- What an AI wants to change waits here for a person. A decision is one compare-and-set on the row, with its event in the same
-- transaction: of two that press at once one decides, and only that one runs the tool.
select set_config('search_path', 'public, extensions', true);

create table if not exists companion_settings (
    key text primary key check (key <> ''),
    value jsonb not null default '{}' check (jsonb_typeof(value) = 'object'),
    updated_at timestamptz not null default now()
);
comment on table companion_settings is 'Choices of the operator by topic: policy, figures of rules and goals, consent. No secrets.';

create table if not exists companion_proposals (
    id uuid primary key,
    status text not null default 'pending' check (status in ('pending', 'approved', 'rejected', 'expired')),
    actor jsonb not null,
    mission_id text not null,
    iteration_id text not null,
    rationale text not null,
    tool_name text not null,
    module text not null,
    params jsonb not null default '{}',
    params_hash text not null,
    target_hash text,
    created_at timestamptz not null,
    expires_at timestamptz,
    decided_at timestamptz,
    decided_by text,
    decider jsonb,
    feedback text,
    attempts integer not null default 0,
    run_at timestamptz,
    result jsonb
);
comment on table companion_proposals is 'Tool calls of an AI that wait for a person, and what became of them. Names no dialog in a column: see the table of dialogs.';
comment on column companion_proposals.target_hash is 'Digest of what the change would be made to, as it was then; another one at approval refuses it.';
comment on column companion_proposals.run_at is 'When the latest run began; without a result that run is under way, or its process is gone.';
comment on column companion_proposals.result is 'success, message, and the redacted form of what the tool gave.';
create unique index if not exists companion_proposals_pending_key on companion_proposals (tool_name, params_hash, mission_id)
    where status = 'pending';
create index if not exists companion_proposals_open_idx on companion_proposals (created_at desc, id desc)
    where status = 'pending' or (status = 'approved' and coalesce(result ->> 'success', 'false') = 'false');
create index if not exists companion_proposals_created_at_idx on companion_proposals (created_at desc, id desc);
create index if not exists companion_proposals_iteration_idx on companion_proposals (mission_id, iteration_id);

-- A proposal may name two dialogs. An erasure or a merge finds them here; a proposal that loses one of them is gone as a whole,
-- while a merge, which takes a row out and puts it back in one statement, leaves it.
create table if not exists companion_proposal_dialogs (
    id uuid primary key default gen_random_uuid(),
    proposal_id uuid not null references companion_proposals (id) on delete cascade,
    dialog_key text not null,
    request_id uuid generated always as (proposal_id) stored
);
comment on column companion_proposal_dialogs.request_id is
    'The proposal again, under a name by which an erasure collects what events may call the person''s.';
comment on table companion_proposal_dialogs is 'The dialogs that a proposal is about: whoever erases one takes the proposal along.';
create index if not exists companion_proposal_dialogs_key_idx on companion_proposal_dialogs (dialog_key);
create index if not exists companion_proposal_dialogs_proposal_idx on companion_proposal_dialogs (proposal_id);

create or replace function companion_forget_proposals() returns trigger
language plpgsql set search_path = public, extensions as $$
begin
    delete from companion_proposals p using gone g
    where p.id = g.proposal_id and not exists (select from companion_proposal_dialogs d where d.id = g.id);
    return null;
end
$$;
comment on function companion_forget_proposals() is 'Deletes proposals whose dialog was erased.';
drop trigger if exists companion_forget_proposals on companion_proposal_dialogs;
create trigger companion_forget_proposals after delete on companion_proposal_dialogs
    referencing old table as gone for each statement execute function companion_forget_proposals();

-- What somebody was shown before a change that cannot be undone.
create table if not exists companion_previews (
    id uuid primary key,
    kind text not null,
    facts jsonb not null,
    created_at timestamptz not null
);
comment on table companion_previews is 'Counts that were shown before a change; the change has to meet them again. Kept for seven days.';

alter table companion_settings enable row level security;
alter table companion_proposals enable row level security;
alter table companion_proposal_dialogs enable row level security;
alter table companion_previews enable row level security;
revoke all on companion_settings, companion_proposals, companion_proposal_dialogs, companion_previews
    from public, anon, authenticated;
grant all on companion_settings, companion_proposals, companion_proposal_dialogs, companion_previews to service_role;

-- A null in the patch takes the name out; other names stay as they are, so that two who change two things both do.
create or replace function companion_patch_settings(p_key text, p_patch jsonb, p_event jsonb default null) returns json
language plpgsql set search_path = public, extensions as $$
declare
    found jsonb;
begin
    if coalesce(p_key, '') = '' or jsonb_typeof(p_patch) is distinct from 'object' then
        raise exception 'p_key and an object p_patch are needed' using errcode = '22023';
    end if;
    insert into companion_settings as s (key, value) values (p_key, jsonb_strip_nulls(p_patch))
    on conflict (key) do update set value = jsonb_strip_nulls(s.value || p_patch), updated_at = now()
    returning s.value into found;
    perform desk_append_event(p_event, '{}');
    return found::json;
end
$$;
comment on function companion_patch_settings(text, jsonb, jsonb) is 'Changes some of a topic''s values, with the event; the topic as it is now.';

create or replace function companion_note_preview(p_id uuid, p_kind text, p_facts jsonb, p_now timestamptz) returns json
language plpgsql set search_path = public, extensions as $$
begin
    delete from companion_previews where created_at < p_now - interval '7 days';
    insert into companion_previews (id, kind, facts, created_at) values (p_id, p_kind, p_facts, p_now);
    return json_build_object('id', p_id);
end
$$;
comment on function companion_note_preview is 'Keeps what was shown, so that a change can be held to it.';

create or replace function companion_stage_proposal(p_proposal jsonb, p_dialogs text[], p_now timestamptz, p_event jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    given companion_proposals := jsonb_populate_record(null::companion_proposals, p_proposal);
    old companion_proposals;
begin
    for i in 1 .. 5 loop
        insert into companion_proposals (id, actor, mission_id, iteration_id, rationale, tool_name, module, params, params_hash,
                                         target_hash, created_at, expires_at)
        select given.id, given.actor, given.mission_id, given.iteration_id, given.rationale, given.tool_name, given.module,
               coalesce(given.params, '{}'), given.params_hash, given.target_hash, p_now, given.expires_at
        on conflict do nothing
        returning * into old;
        if old.id is not null then
            insert into companion_proposal_dialogs (proposal_id, dialog_key)
            select old.id, d from unnest(p_dialogs) d where d <> '' group by d;
            perform desk_append_event(p_event, '{}');
            return json_build_object('outcome', 'staged', 'proposal', row_to_json(old));
        end if;
        select * into old from companion_proposals
        where tool_name = given.tool_name and params_hash = given.params_hash and mission_id = given.mission_id
          and status = 'pending';
        -- One that nobody decided in time, or whose target is another by now, is not what is asked for: it makes room.
        if old.id is not null and (old.expires_at < p_now or old.target_hash is distinct from given.target_hash) then
            update companion_proposals set status = 'expired', decided_at = p_now, decided_by = 'auto-expire'
            where id = old.id and status = 'pending';
            if found then
                perform desk_append_event(
                    p_event - 'mission_id' - 'iteration_id' || jsonb_build_object(
                        'event_id', gen_random_uuid(), 'type', 'ProposalDecided', 'record_id', old.id, 'payload', '{}'::jsonb,
                        'actor_kind', 'system', 'actor', jsonb_build_object('kind', 'system', 'principal_id', 'system:rule',
                                                                          'display_name', 'rule', 'source', 'rule')),
                    jsonb_build_object('proposal_id', old.id, 'tool', old.tool_name, 'module', old.module,
                                       'decision', 'expired', 'status', 'expired'));
            end if;
        elsif old.id is not null then
            return json_build_object('outcome', 'same', 'proposal', row_to_json(old));
        end if;
    end loop;
    raise exception 'the proposal could not be staged' using errcode = '40001';
end
$$;
comment on function companion_stage_proposal is 'Stages a tool call. outcome: staged, or same where it waits already.';

create or replace function companion_decide_proposal(
    p_id uuid, p_to text, p_by text, p_now timestamptz, p_event jsonb, p_feedback text default null
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    found companion_proposals;
begin
    if p_to is null or p_to not in ('approved', 'rejected', 'expired') then
        raise exception 'p_to must be approved, rejected or expired' using errcode = '22023';
    end if;
    update companion_proposals p set
        status = p_to, decided_at = p_now, decided_by = p_by, decider = p_event -> 'actor', feedback = nullif(btrim(p_feedback), ''),
        attempts = case when p_to = 'approved' then 1 else 0 end, run_at = case when p_to = 'approved' then p_now end
    where p.id = p_id and p.status = 'pending'
      and case when p_to = 'expired' then p.expires_at < p_now else coalesce(p.expires_at >= p_now, true) end
    returning * into found;
    if found.id is not null then
        perform desk_append_event(p_event, '{}');
        return json_build_object('outcome', 'done', 'proposal', row_to_json(found));
    end if;
    select * into found from companion_proposals where id = p_id;
    return json_build_object(
        'outcome', case when found.id is null then 'missing'
                        when found.status = 'pending' and found.expires_at < p_now then 'expired'
                        else found.status end);
end
$$;
comment on function companion_decide_proposal is
    'Decides a proposal that is pending. outcome: done (by this call), missing, or the state it is in.';

-- A run that failed, or one that never told its end, may be tried again; by one of those who ask at once.
create or replace function companion_retry_proposal(p_id uuid, p_attempts integer, p_now timestamptz, p_lost_s integer default 900)
returns json
language plpgsql set search_path = public, extensions as $$
declare
    found companion_proposals;
begin
    update companion_proposals p set attempts = p.attempts + 1, run_at = p_now, result = null
    where p.id = p_id and p.status = 'approved' and p.attempts = p_attempts
      and case when p.result is null then p.run_at < p_now - make_interval(secs => p_lost_s)
               else p.result ->> 'success' = 'false' end
    returning * into found;
    if found.id is not null then
        return json_build_object('outcome', 'done', 'proposal', row_to_json(found));
    end if;
    select * into found from companion_proposals where id = p_id;
    return json_build_object('outcome', case when found.id is null then 'missing' when found.status <> 'approved' then found.status
                                             when found.result is null then 'running' when found.result ->> 'success' = 'true'
                                             then 'approved' else 'running' end);
end
$$;
comment on function companion_retry_proposal is 'Takes an approved proposal for another run. outcome: done, missing, running, or its state.';

create or replace function companion_finish_proposal(p_id uuid, p_attempts integer, p_result jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    n bigint;
begin
    update companion_proposals set result = p_result where id = p_id and status = 'approved' and attempts = p_attempts;
    get diagnostics n = row_count;
    return json_build_object('stored', n = 1);
end
$$;
comment on function companion_finish_proposal is 'Stores what a run gave; not where a later run has taken over.';

-- p_state: open (pending, or approved and not done), pending, overdue, decided, or null for all.
create or replace function companion_list_proposals(
    p_now timestamptz, p_state text default null, p_modules text[] default null, p_mission_id text default null,
    p_limit integer default 25, p_offset integer default 0, p_id uuid default null, p_iteration_id text default null
) returns json
language plpgsql stable set search_path = public, extensions set plan_cache_mode = 'force_custom_plan' as $$
declare
    found json;
begin
    with fitting as (
        select p.* from companion_proposals p
        where (p_id is null or p.id = p_id) and (p_modules is null or p.module = any (p_modules))
          and (p_mission_id is null or p.mission_id = p_mission_id)
          and (p_iteration_id is null or p.iteration_id = p_iteration_id)
          and case p_state
                when 'open' then (p.status = 'pending' or (p.status = 'approved' and coalesce(p.result ->> 'success', 'false') = 'false'))
                                 and (p.status <> 'pending' or coalesce(p.expires_at >= p_now, true))
                when 'pending' then p.status = 'pending' and coalesce(p.expires_at >= p_now, true)
                when 'overdue' then p.status = 'pending' and p.expires_at < p_now
                when 'decided' then p.status <> 'pending' or p.expires_at < p_now
                else true end
    ), page as (
        select f.* from fitting f order by f.created_at desc, f.id desc
        limit greatest(0, least(coalesce(p_limit, 25), 500)) offset greatest(0, coalesce(p_offset, 0))
    )
    select json_build_object(
        'rows', (select coalesce(json_agg(page order by created_at desc, id desc), '[]') from page),
        'total', (select count(*) from fitting))
    into found;
    return found;
end
$$;
comment on function companion_list_proposals is 'Proposals, newest first.';

revoke execute on function companion_forget_proposals, companion_patch_settings, companion_note_preview, companion_stage_proposal,
    companion_decide_proposal, companion_retry_proposal, companion_finish_proposal, companion_list_proposals
    from public, anon, authenticated;
grant execute on function companion_patch_settings, companion_note_preview, companion_stage_proposal, companion_decide_proposal,
    companion_retry_proposal, companion_finish_proposal, companion_list_proposals to service_role;

notify pgrst, 'reload schema';
