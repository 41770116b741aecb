-- Propose, approve, activate, revert. Each stores its event in its own transaction, takes the same lock, and answers
-- {"refused": why} without having done anything where a rule forbids it; the rules are here, so that nothing goes round them.
select set_config('search_path', 'public, extensions', true);

-- The table of evaluations may be younger than this function: it is asked by name, and where it is missing nothing is covered.
create or replace function desk_profile_evaluation(p_version integer, p_evaluation_id uuid) returns jsonb
language plpgsql stable set search_path = public, extensions as $$
declare
    e jsonb;
    wanted text := (select query_set from desk_profiles where version = p_version);
begin
    if to_regclass('public.desk_evaluations') is null or p_evaluation_id is null then
        return null;
    end if;
    execute 'select to_jsonb(e) from desk_evaluations e where e.id = $1' into e using p_evaluation_id;
    if e is null or (e ->> 'profile_version')::integer is distinct from p_version
       or wanted is null or coalesce(e ->> 'query_set_id', e ->> 'query_set') is distinct from wanted then
        return null;
    end if;
    return e;
end
$$;
comment on function desk_profile_evaluation(integer, uuid) is
    'The evaluation, if it is of exactly this version on the labelled queries that its proposal names; else null.';

create or replace function desk_actor_of(p_event jsonb) returns jsonb
language sql immutable set search_path = public, extensions as $$
    select case when coalesce(p_event -> 'actor' ->> 'principal_id', '') <> ''
                then p_event -> 'actor' end
$$;
comment on function desk_actor_of(jsonb) is 'Who is behind an event; null where it is nobody.';

create or replace function desk_active_profile() returns json
language sql stable set search_path = public, extensions as $$
    select json_build_object('version', p.version, 'name', p.name, 'body', p.body, 'since', a.active_at)
    from desk_profile_activations a join desk_profiles p on p.version = a.version
    where a.ended_at is null
$$;
comment on function desk_active_profile() is 'The profile in force.';

create or replace function desk_profile_list() returns json
language sql stable set search_path = public, extensions as $$
    select json_build_object(
        'active', (select a.version from desk_profile_activations a where a.ended_at is null),
        'previous', (select a.previous from desk_profile_activations a where a.ended_at is null),
        'profiles', (
            select coalesce(json_agg(json_build_object(
                'version', p.version, 'name', p.name, 'body', p.body, 'note', p.note, 'query_set', p.query_set,
                'created_at', p.created_at, 'created_by', coalesce(p.created_by ->> 'display_name', p.created_by ->> 'principal_id'),
                'evaluation_id', y.evaluation_id, 'verdict', y.verdict, 'approved_at', y.approved_at,
                'approved_by', coalesce(y.approved_by ->> 'display_name', y.approved_by ->> 'principal_id'),
                'self_approved', y.self_approved) order by p.version desc), '[]')
            from desk_profiles p left join desk_profile_approvals y on y.version = p.version),
        'activations', (
            select coalesce(json_agg(x order by x.active_at desc), '[]')
            from (select a.version, a.previous, a.kind, a.active_at, a.ended_at, a.reason,
                         coalesce(a.actor ->> 'display_name', a.actor ->> 'principal_id') as by
                  from desk_profile_activations a order by a.active_at desc limit 100) x))
$$;
comment on function desk_profile_list() is 'Every profile with its approval, and when which was in force, newest first.';

create or replace function desk_propose_profile(
    p_name text, p_body jsonb, p_query_set text, p_note text, p_event jsonb
) returns json
language plpgsql security definer set search_path = public, extensions, pg_temp set lock_timeout = '5s' as $$
declare
    who jsonb := desk_actor_of(p_event);
    added integer;
begin
    if who is null then return json_build_object('refused', 'no_actor'); end if;
    perform pg_advisory_xact_lock(hashtextextended('desk_profiles', 0));
    select coalesce(max(version), 0) + 1 into added from desk_profiles;
    insert into desk_profiles (version, name, body, note, query_set, created_by)
    values (added, p_name, p_body, coalesce(p_note, ''), nullif(p_query_set, ''), who);
    perform desk_append_event(p_event || jsonb_build_object('record_id', 'profile:' || added),
                              jsonb_build_object('version', added));
    return json_build_object('version', added);
end
$$;
comment on function desk_propose_profile(text, jsonb, text, text, jsonb) is
    'Adds a version, and ProfileProposed; nothing becomes active by it.';

create or replace function desk_approve_profile(p_version integer, p_evaluation_id uuid, p_note text, p_event jsonb)
returns json
language plpgsql security definer set search_path = public, extensions, pg_temp set lock_timeout = '5s' as $$
declare
    who jsonb := desk_actor_of(p_event);
    proposed desk_profiles;
    e jsonb;
    own boolean;
begin
    if who is null or who ->> 'kind' is distinct from 'user' then return json_build_object('refused', 'no_approver'); end if;
    perform pg_advisory_xact_lock(hashtextextended('desk_profiles', 0));
    select * into proposed from desk_profiles where version = p_version;
    if proposed.version is null then return json_build_object('refused', 'no_profile'); end if;
    if exists (select from desk_profile_approvals where version = p_version) then
        return json_build_object('refused', 'approved_already');
    end if;
    e := desk_profile_evaluation(p_version, p_evaluation_id);
    if e is null then return json_build_object('refused', 'no_evaluation'); end if;
    own := proposed.created_by ->> 'principal_id' = who ->> 'principal_id';
    insert into desk_profile_approvals (version, evaluation_id, approved_by, self_approved, verdict, note)
    values (p_version, p_evaluation_id, who, own, e ->> 'verdict', coalesce(p_note, ''));
    perform desk_append_event(p_event || jsonb_build_object('record_id', 'profile:' || p_version),
                              jsonb_build_object('version', p_version, 'evaluation_id', p_evaluation_id,
                                                 'self_approved', own));
    return json_build_object('self_approved', own, 'verdict', e ->> 'verdict');
end
$$;
comment on function desk_approve_profile(integer, uuid, text, jsonb) is
    'A person''s yes to a version on the strength of one evaluation of it, and ProfileApproved.';

create or replace function desk_switch_profile(p_version integer, p_previous integer, p_kind text, p_reason text, p_actor jsonb)
returns void
language plpgsql set search_path = public, extensions as $$
begin
    -- The clock, not the transaction's start: two switches in one transaction still follow each other.
    update desk_profile_activations set ended_at = greatest(active_at, clock_timestamp()) where ended_at is null;
    insert into desk_profile_activations (version, previous, kind, actor, reason, active_at)
    values (p_version, p_previous, p_kind, p_actor, coalesce(p_reason, ''), clock_timestamp());
end
$$;
comment on function desk_switch_profile(integer, integer, text, text, jsonb) is 'Ends the open activation and opens another.';

create or replace function desk_activate_profile(p_version integer, p_event jsonb) returns json
language plpgsql security definer set search_path = public, extensions, pg_temp set lock_timeout = '5s' as $$
declare
    who jsonb := desk_actor_of(p_event);
    yes desk_profile_approvals;
    now_active integer;
begin
    if who is null then return json_build_object('refused', 'no_actor'); end if;
    perform pg_advisory_xact_lock(hashtextextended('desk_profiles', 0));
    if not exists (select from desk_profiles where version = p_version) then
        return json_build_object('refused', 'no_profile');
    end if;
    select version into now_active from desk_profile_activations where ended_at is null;
    if now_active = p_version then return json_build_object('refused', 'active_already'); end if;
    select * into yes from desk_profile_approvals where version = p_version;
    if yes.version is null then return json_build_object('refused', 'not_approved'); end if;
    -- It must still be there: an evaluation that was deleted proves nothing.
    if desk_profile_evaluation(p_version, yes.evaluation_id) is null then
        return json_build_object('refused', 'no_evaluation');
    end if;
    perform desk_switch_profile(p_version, now_active, 'activated', '', who);
    perform desk_append_event(p_event || jsonb_build_object('record_id', 'profile:' || p_version),
                              jsonb_build_object('version', p_version, 'from_version', now_active,
                                                 'evaluation_id', yes.evaluation_id));
    return json_build_object('version', p_version, 'from_version', now_active);
end
$$;
comment on function desk_activate_profile(integer, jsonb) is
    'Brings an approved version into force, and ProfileActivated; refuses one without evaluation or approver.';

create or replace function desk_revert_profile(p_from integer, p_reason text, p_event jsonb) returns json
language plpgsql security definer set search_path = public, extensions, pg_temp set lock_timeout = '5s' as $$
declare
    who jsonb := desk_actor_of(p_event);
    open_one desk_profile_activations;
    before_that integer;
begin
    if who is null then return json_build_object('refused', 'no_actor'); end if;
    perform pg_advisory_xact_lock(hashtextextended('desk_profiles', 0));
    select * into open_one from desk_profile_activations where ended_at is null;
    -- Somebody else was quicker: what this person saw as active no longer is.
    if open_one.version is distinct from p_from then return json_build_object('refused', 'not_active'); end if;
    if open_one.previous is null then return json_build_object('refused', 'nothing_before'); end if;
    -- Back again from there leads further back, not forward to what was just taken out.
    select a.previous into before_that from desk_profile_activations a
    where a.version = open_one.previous order by a.active_at desc limit 1;
    perform desk_switch_profile(open_one.previous, before_that, 'reverted', p_reason, who);
    perform desk_append_event(p_event || jsonb_build_object('record_id', 'profile:' || open_one.previous),
                              jsonb_build_object('version', open_one.previous, 'from_version', p_from));
    return json_build_object('version', open_one.previous, 'from_version', p_from);
end
$$;
comment on function desk_revert_profile(integer, text, jsonb) is
    'Brings the profile before the active one back into force, and ProfileReverted.';

revoke execute on function desk_profile_evaluation, desk_actor_of, desk_active_profile, desk_profile_list,
    desk_propose_profile, desk_approve_profile, desk_switch_profile, desk_activate_profile, desk_revert_profile
    from public, anon, authenticated, service_role;
grant execute on function desk_profile_evaluation, desk_actor_of, desk_active_profile, desk_profile_list,
    desk_propose_profile, desk_approve_profile, desk_activate_profile, desk_revert_profile to service_role;
