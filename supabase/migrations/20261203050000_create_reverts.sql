-- What an AI did, by mission and iteration; and which of its events somebody took back. Claiming an event is one compare-and-set:
-- of two that press at once one runs the inverse.
select set_config('search_path', 'public, extensions', true);

create table if not exists companion_reverts (
    id uuid primary key default gen_random_uuid(),
    event_id uuid not null unique,
    mission_id text not null,
    iteration_id text not null,
    outcome text not null check (outcome in ('running', 'reverted', 'failed')),
    reason text check (length(reason) <= 300),
    attempts integer not null default 1,
    actor jsonb not null,
    at timestamptz not null
);
create index if not exists companion_reverts_iteration_idx on companion_reverts (mission_id, iteration_id);
create index if not exists companion_reverts_at_idx on companion_reverts (at);
comment on table companion_reverts is 'Events of an AI that a person took back, or tried to.';
comment on column companion_reverts.reason is 'Why it could not be taken back, in our own words.';

alter table companion_reverts enable row level security;
revoke all on companion_reverts from public, anon, authenticated;
grant all on companion_reverts to service_role;

create index if not exists companion_events_ai_idx on companion_events (seq) where actor_kind = 'ai';

create or replace function companion_mission_titles(p_ids text[]) returns jsonb
language sql stable set search_path = public, extensions as $$
    select coalesce(jsonb_object_agg(m.id::text, m.title), '{}') from companion_missions m where m.id::text = any (p_ids)
$$;
comment on function companion_mission_titles(text[]) is 'Titles of these missions by id; other ids are left out.';

create or replace function companion_ai_timeline(
    p_mission_id text default null, p_module text default null, p_since timestamptz default null,
    p_until timestamptz default null, p_limit integer default 200
) returns json
language plpgsql stable set search_path = public, extensions as $$
declare
    k integer := greatest(1, least(coalesce(p_limit, 200), 1000));
    result json;
begin
    -- Every filter before the limit; from p_since on and before p_until. One row more than asked for says that there are more.
    with found as materialized (
        select e.* from companion_events e
        where e.actor_kind = 'ai' and (p_mission_id is null or e.mission_id = p_mission_id)
          and (p_module is null or e.app_id = p_module)
          and (p_since is null or e.ts >= p_since) and (p_until is null or e.ts < p_until)
        order by e.seq desc limit k + 1
    ), page as materialized (
        select f.* from found f order by f.seq desc limit k
    ), buckets as (
        select p.mission_id, p.iteration_id, json_agg(json_build_object(
            'seq', p.seq, 'event_id', p.event_id, 'type', p.type, 'app_id', p.app_id, 'ts', p.ts, 'record_id', p.record_id,
            'class', p.class, 'payload', p.payload, 'actor', p.actor, 'outcome', r.outcome, 'reason', r.reason) order by p.seq desc) as events
        from page p left join companion_reverts r on r.event_id = p.event_id
        group by 1, 2
    ), told as (
        -- What is said of an iteration is said of all its events, whichever of them the filters let through.
        select b.mission_id, b.iteration_id, b.events, w.*, a.first_actor
        from buckets b
        cross join lateral (
            select min(e.ts) as first_at, max(e.ts) as last_at, count(*) as total, max(e.seq) as last_seq
            from companion_events e
            where e.actor_kind = 'ai' and e.mission_id = b.mission_id and e.iteration_id = b.iteration_id) w
        cross join lateral (
            select e.actor as first_actor from companion_events e
            where e.actor_kind = 'ai' and e.mission_id = b.mission_id and e.iteration_id = b.iteration_id
            order by e.seq limit 1) a
    )
    select json_build_object(
        'buckets', coalesce(json_agg(json_build_object(
            'mission_id', t.mission_id, 'iteration_id', t.iteration_id, 'agent', t.first_actor ->> 'display_name',
            'rationale', t.first_actor ->> 'rationale', 'first_at', t.first_at, 'last_at', t.last_at, 'total', t.total,
            'events', t.events,
            'mission_title', companion_mission_titles(array[t.mission_id]) ->> t.mission_id,
            'proposals', (select coalesce(json_object_agg(s.status, s.n), '{}') from (
                select p.status, count(*) as n from companion_proposals p
                where p.mission_id = t.mission_id and p.iteration_id = t.iteration_id group by 1) s)
        ) order by t.first_at desc, t.last_seq desc), '[]'),
        'more', (select count(*) from found) > k)
    into result from told t;
    return result;
end
$$;
comment on function companion_ai_timeline is
    'Events of AIs by mission and iteration, newest iteration first; p_limit (at most 1,000) counts events.';

-- What others did to the same record since, except for what follows from the iteration itself: derived events, and earlier
-- attempts to take it back.
create or replace function companion_ai_iteration(p_mission_id text, p_iteration_id text) returns json
language sql stable set search_path = public, extensions as $$
    with own as materialized (
        select e.* from companion_events e
        where e.actor_kind = 'ai' and e.mission_id = p_mission_id and e.iteration_id = p_iteration_id
    )
    select coalesce(json_agg(json_build_object(
        'seq', e.seq, 'event_id', e.event_id, 'type', e.type, 'app_id', e.app_id, 'ts', e.ts, 'record_id', e.record_id,
        'class', e.class, 'payload', e.payload, 'actor', e.actor, 'outcome', r.outcome, 'reason', r.reason,
        'since', (select coalesce(json_agg(distinct f.type), '[]') from companion_events f
                  where f.record_id = e.record_id and f.app_id = e.app_id and f.seq > e.seq
                    and not exists (select from own o where o.event_id in (f.event_id, f.caused_by)))) order by e.seq desc), '[]')
    from own e left join companion_reverts r on r.event_id = e.event_id
$$;
comment on function companion_ai_iteration(text, text) is
    'Every event of one iteration, newest first, with what became of taking it back, and what others did to its record since.';

create or replace function companion_claim_revert(p_event_id uuid, p_actor jsonb, p_at timestamptz, p_lost_s integer default 300)
returns json
language plpgsql set search_path = public, extensions as $$
declare
    taken integer;
begin
    insert into companion_reverts as r (event_id, mission_id, iteration_id, outcome, actor, at)
    select e.event_id, e.mission_id, e.iteration_id, 'running', p_actor - 'rationale', p_at
    from companion_events e where e.event_id = p_event_id and e.actor_kind = 'ai'
    on conflict (event_id) do update set
        outcome = 'running', reason = null, attempts = r.attempts + 1, actor = excluded.actor, at = excluded.at
    where r.outcome = 'failed' or (r.outcome = 'running' and r.at < p_at - make_interval(secs => p_lost_s))
    returning r.attempts into taken;
    if taken is not null then
        return json_build_object('outcome', 'claimed', 'attempts', taken);
    end if;
    return json_build_object('outcome', coalesce((select r.outcome from companion_reverts r where r.event_id = p_event_id), 'missing'));
end
$$;
comment on function companion_claim_revert is
    'Takes one event of an AI to be taken back: claimed, or what it is already (running, reverted), or missing.';

create or replace function companion_end_revert(p_event_id uuid, p_attempts integer, p_outcome text, p_reason text default null)
returns json
language plpgsql set search_path = public, extensions as $$
begin
    update companion_reverts set outcome = p_outcome, reason = left(p_reason, 300)
    where event_id = p_event_id and attempts = p_attempts and outcome = 'running';
    return json_build_object('stored', found);
end
$$;
comment on function companion_end_revert is 'What became of it; stored is false where another run has taken over.';

create or replace function companion_prune_reverts(p_days integer) returns json
language plpgsql set search_path = public, extensions as $$
declare
    n bigint;
begin
    delete from companion_reverts where at < now() - make_interval(days => p_days);
    get diagnostics n = row_count;
    return json_build_object('deleted', n);
end
$$;
comment on function companion_prune_reverts(integer) is 'Forgets what was taken back longer ago than events are kept.';

revoke execute on function companion_mission_titles, companion_ai_timeline, companion_ai_iteration, companion_claim_revert,
    companion_end_revert, companion_prune_reverts from public, anon, authenticated;
grant execute on function companion_mission_titles, companion_ai_timeline, companion_ai_iteration, companion_claim_revert,
    companion_end_revert, companion_prune_reverts to service_role;

notify pgrst, 'reload schema';
