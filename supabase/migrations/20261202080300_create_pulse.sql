-- Rules and what they say. A rule's slot is taken by compare-and-set and used up only once it was looked at; what it says is
-- a row with a given id, so that two processes say it once; what people do with it is counted by type and hour.
select set_config('search_path', 'public, extensions', true);

create table if not exists companion_rule_state (
    rule_id text primary key,
    enabled boolean not null default true,
    last_run_at timestamptz,
    last_slot text,
    lease_slot text,
    lease_until timestamptz,
    hour_shift jsonb not null default '{}',
    demoted boolean not null default false,
    learned_from timestamptz,
    updated_at timestamptz not null default now()
);
comment on table companion_rule_state is 'When each rule was last looked at, and what the answers to its nudges changed about it.';
comment on column companion_rule_state.hour_shift is 'Hours by which a slot is moved, by its time: {"18:00": 1}.';
comment on column companion_rule_state.demoted is 'Hardly ever acted on: one priority lower, and once a day at most.';
comment on column companion_rule_state.learned_from is 'Answers before it do not count: somebody reset what was learned.';

create table if not exists companion_nudges (
    id text primary key check (length(id) between 1 and 300),
    rule_id text not null,
    type text not null,
    module text not null,
    data jsonb not null,
    dialog_key text,
    priority text not null check (priority in ('low', 'medium', 'high')),
    status text not null default 'open'
        check (status in ('open', 'snoozed', 'acted', 'dismissed', 'expired', 'auto_resolved')),
    shown_at timestamptz not null,
    snoozed_until timestamptz,
    expires_at timestamptz,
    resolved_at timestamptz,
    created_at timestamptz not null default now()
);
create index if not exists companion_nudges_live_idx on companion_nudges (shown_at) where status in ('open', 'snoozed');
create index if not exists companion_nudges_rule_idx on companion_nudges (rule_id, shown_at desc);
create index if not exists companion_nudges_dialog_idx on companion_nudges (dialog_key) where dialog_key is not null;
comment on table companion_nudges is 'What an operator should know: said once by its id. Holds counts and titles, no text of a dialog.';

create table if not exists companion_nudge_outcomes (
    id bigint generated always as identity primary key,
    nudge_id text not null references companion_nudges (id) on delete cascade,
    rule_id text not null,
    nudge_type text not null,
    outcome text not null check (outcome in ('acted', 'dismissed', 'snoozed', 'expired', 'auto_resolved')),
    latency_ms bigint not null check (latency_ms >= 0),
    hour integer not null check (hour between 0 and 23),
    at timestamptz not null
);
create index if not exists companion_nudge_outcomes_type_idx on companion_nudge_outcomes (nudge_type, outcome);
create index if not exists companion_nudge_outcomes_nudge_idx on companion_nudge_outcomes (nudge_id);
comment on table companion_nudge_outcomes is 'What became of a nudge; hour: the local one in which it was shown.';

alter table companion_rule_state enable row level security;
alter table companion_nudges enable row level security;
alter table companion_nudge_outcomes enable row level security;
revoke all on companion_rule_state, companion_nudges, companion_nudge_outcomes from public, anon, authenticated;
grant all on companion_rule_state, companion_nudges, companion_nudge_outcomes to service_role;

create or replace function companion_rule_states() returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(json_build_object(
        'rule_id', r.rule_id, 'enabled', r.enabled, 'last_run_at', r.last_run_at, 'last_slot', r.last_slot,
        'hour_shift', r.hour_shift, 'demoted', r.demoted, 'learned_from', r.learned_from,
        'last_nudge_at', (select max(n.shown_at) from companion_nudges n where n.rule_id = r.rule_id)) order by r.rule_id), '[]')
    from companion_rule_state r
$$;
comment on function companion_rule_states() is 'The state of every rule that was ever looked at.';

create or replace function companion_rule_claim(
    p_rule text, p_slot text, p_last_slot text, p_now timestamptz, p_lease_s integer default 60
) returns json
language plpgsql set search_path = public, extensions as $$
begin
    insert into companion_rule_state (rule_id) values (p_rule) on conflict do nothing;
    -- A lease from the far future is one of a clock that was set back.
    update companion_rule_state r set lease_slot = p_slot, lease_until = p_now + make_interval(secs => p_lease_s)
    where r.rule_id = p_rule and r.enabled and r.last_slot is not distinct from p_last_slot
      and (r.lease_until is null or r.lease_until <= p_now or r.lease_until > p_now + interval '10 minutes');
    return json_build_object('held', found);
end
$$;
comment on function companion_rule_claim(text, text, text, timestamptz, integer) is
    'Whether this caller alone may look at the slot now: nobody used one since p_last_slot, and nobody is at it.';

create or replace function companion_rule_done(
    p_rule text, p_slot text, p_now timestamptz, p_used boolean, p_nudges jsonb
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    said jsonb;
begin
    if p_slot is not null then
        update companion_rule_state r set
            lease_slot = null, lease_until = null, updated_at = clock_timestamp(),
            last_slot = case when p_used then p_slot else r.last_slot end,
            last_run_at = case when p_used then p_now else r.last_run_at end
        where r.rule_id = p_rule and r.lease_slot = p_slot;
        if not found then
            return json_build_object('held', false, 'said', '[]'::jsonb);
        end if;
    end if;
    with given as (
        select value as n, ordinality as place from jsonb_array_elements(coalesce(p_nudges, '[]')) with ordinality
    ), added as (
        insert into companion_nudges (id, rule_id, type, module, data, dialog_key, priority, shown_at, expires_at)
        select n ->> 'id', p_rule, n ->> 'type', n ->> 'module', n -> 'data', n #>> '{data,action_params,dialog_key}',
               n ->> 'priority', p_now, (n ->> 'expires_at')::timestamptz
        from given order by place
        on conflict do nothing
        returning companion_nudges.id
    )
    select coalesce(jsonb_agg(id), '[]') into said from added;
    return json_build_object('held', true, 'said', said);
end
$$;
comment on function companion_rule_done(text, text, timestamptz, boolean, jsonb) is
    'Ends a look: the slot is used up, or free again after a failure; the ids of nudges that are new.';

create or replace function companion_nudge_list(p_now timestamptz, p_module text default null) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(row_to_json(n) order by array_position(array['high', 'medium', 'low'], n.priority), n.shown_at, n.id), '[]')
    from companion_nudges n
    where (n.status = 'open' or (n.status = 'snoozed' and n.snoozed_until <= p_now))
      and (n.expires_at is null or n.expires_at > p_now) and (p_module is null or n.module = p_module)
$$;
comment on function companion_nudge_list(timestamptz, text) is 'What is shown now: by priority, then by age.';

create or replace function companion_nudge_recent(p_since timestamptz) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_object_agg(n.id, n.shown_at), '{}') from companion_nudges n where n.shown_at >= p_since
$$;
comment on function companion_nudge_recent(timestamptz) is 'When each nudge since then was shown, by its id.';

create or replace function companion_nudge_resolve(
    p_id text, p_outcome text, p_now timestamptz, p_zone text, p_until timestamptz default null, p_event jsonb default null
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    n companion_nudges;
    took bigint;
begin
    if p_outcome not in ('acted', 'dismissed', 'snoozed', 'expired', 'auto_resolved')
       or (p_outcome = 'snoozed') <> (p_until is not null) then
        raise exception 'a nudge is not %', p_outcome using errcode = '22023';
    end if;
    update companion_nudges x set
        status = p_outcome, snoozed_until = p_until,
        resolved_at = case when p_outcome = 'snoozed' then null else p_now end
    where x.id = p_id and (x.status = 'open' or (x.status = 'snoozed' and (p_outcome <> 'snoozed' or x.snoozed_until <= p_now)))
    returning * into n;
    if n.id is null then
        return json_build_object('changed', false);
    end if;
    took := greatest(0, extract(epoch from p_now - n.shown_at) * 1000)::bigint;
    insert into companion_nudge_outcomes (nudge_id, rule_id, nudge_type, outcome, latency_ms, hour, at)
    values (n.id, n.rule_id, n.type, p_outcome, took, extract(hour from n.shown_at at time zone p_zone)::int, p_now);
    if p_event is not null then
        perform companion_append_events(jsonb_build_array(case when p_event -> 'payload' ? 'outcome'
            then jsonb_set(p_event, '{payload,latency_ms}', to_jsonb(took)) else p_event end));
    end if;
    return json_build_object('changed', true, 'latency_ms', took);
end
$$;
comment on function companion_nudge_resolve(text, text, timestamptz, text, timestamptz, jsonb) is
    'What became of a nudge that is shown, once, with its event; changed is false where somebody was quicker.';

create or replace function companion_nudge_expired(p_now timestamptz) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(row_to_json(n) order by n.shown_at, n.id), '[]') from companion_nudges n
    where n.status in ('open', 'snoozed') and n.expires_at <= p_now
$$;
comment on function companion_nudge_expired(timestamptz) is 'What is past its time and has no outcome yet.';

create or replace function companion_nudge_stats(p_since timestamptz) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(json_build_object(
        'rule_id', s.rule_id, 'type', s.nudge_type, 'hour', s.hour, 'acted', s.acted, 'total', s.total)
        order by s.rule_id, s.nudge_type, s.hour), '[]')
    from (select o.rule_id, o.nudge_type, o.hour, count(*) filter (where o.outcome = 'acted') as acted, count(*) as total
          from companion_nudge_outcomes o left join companion_rule_state r on r.rule_id = o.rule_id
          where o.at >= p_since and (r.learned_from is null or o.at >= r.learned_from) group by 1, 2, 3) s
$$;
comment on function companion_nudge_stats(timestamptz) is 'Outcomes by rule, type and hour, since then and since the last reset.';

create or replace function companion_rule_change(p_rule text, p_change jsonb, p_event jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    before companion_rule_state;
    r companion_rule_state;
begin
    insert into companion_rule_state (rule_id) values (p_rule) on conflict do nothing;
    select * into before from companion_rule_state x where x.rule_id = p_rule for update;
    update companion_rule_state x set
        enabled = coalesce((p_change ->> 'enabled')::boolean, x.enabled),
        hour_shift = coalesce(p_change -> 'hour_shift', x.hour_shift),
        demoted = coalesce((p_change ->> 'demoted')::boolean, x.demoted),
        learned_from = coalesce((p_change ->> 'learned_from')::timestamptz, x.learned_from),
        updated_at = clock_timestamp()
    where x.rule_id = p_rule returning * into r;
    if (r.enabled, r.hour_shift, r.demoted, r.learned_from)
       is not distinct from (before.enabled, before.hour_shift, before.demoted, before.learned_from) then
        return json_build_object('changed', false);
    end if;
    perform companion_append_events(jsonb_build_array(p_event));
    return json_build_object('changed', true);
end
$$;
comment on function companion_rule_change(text, jsonb, jsonb) is
    'Switches a rule, or notes what was learned about it; with its event where that changed something.';

create or replace function companion_prune_nudges(p_before timestamptz) returns json
language sql set search_path = public, extensions as $$
    with gone as (
        delete from companion_nudges n where n.status not in ('open', 'snoozed') and n.shown_at < p_before returning 1
    )
    select json_build_object('deleted', count(*)) from gone
$$;
comment on function companion_prune_nudges(timestamptz) is 'Forgets nudges that ended, and their outcomes, of before then.';

revoke execute on function companion_rule_states, companion_rule_claim, companion_rule_done, companion_nudge_list,
    companion_nudge_recent, companion_nudge_resolve, companion_nudge_expired, companion_nudge_stats, companion_rule_change,
    companion_prune_nudges from public, anon, authenticated;
grant execute on function companion_rule_states, companion_rule_claim, companion_rule_done, companion_nudge_list,
    companion_nudge_recent, companion_nudge_resolve, companion_nudge_expired, companion_nudge_stats, companion_rule_change,
    companion_prune_nudges to service_role;

notify pgrst, 'reload schema';
