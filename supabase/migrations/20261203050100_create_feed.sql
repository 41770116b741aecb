-- Everything that the companion said or did, in one order: nudges, insights, proposals, iterations, goals, conversations. Holds
-- titles and states; of a conversation its title alone, and none where that names a dialog.
select set_config('search_path', 'public, extensions', true);

create or replace function companion_feed(
    p_kinds text[] default null, p_module text default null, p_before timestamptz default null, p_before_id text default null,
    p_limit integer default 30
) returns json
language plpgsql stable set search_path = public, extensions as $$
declare
    k integer := greatest(1, least(coalesce(p_limit, 30), 200));
    result json;
begin
    -- Newest first, ties by id; what comes after (p_before, p_before_id). Every filter before the limit.
    with nudges as (
        select 'nudge' as kind, 'nudge:' || n.id as id, n.shown_at as at, n.module, n.data ->> 'title' as title,
               jsonb_build_object('status', n.status, 'priority', n.priority) as detail
        from companion_nudges n
        where (p_kinds is null or 'nudge' = any (p_kinds)) and (p_module is null or n.module = p_module)
    ), facts as (
        select 'insight', 'fact:' || f.id, f.first_seen, coalesce(f.source_modules[1], 'companion'), f.content,
               jsonb_build_object('status', 'learned', 'origin', f.origin)
        from companion_facts f
        where (p_kinds is null or 'insight' = any (p_kinds)) and f.deleted_at is null
          and (p_module is null or p_module = any (f.source_modules))
    ), correlations as (
        select 'insight', 'correlation:' || c.id, c.shown_at, c.factors #>> '{a,module}', c.sentence,
               jsonb_build_object('status', 'shown', 'r', c.r, 'days', c.n)
        from companion_correlations c
        where (p_kinds is null or 'insight' = any (p_kinds)) and c.shown_at is not null
          and (p_module is null or p_module in (c.factors #>> '{a,module}', c.factors #>> '{b,module}'))
    ), proposals as (
        select 'proposal', 'proposal:' || p.id, p.created_at, p.module, p.tool_name,
               jsonb_build_object('status', p.status, 'agent', p.actor ->> 'display_name',
                                  'succeeded', (p.result ->> 'success')::boolean)
        from companion_proposals p
        where (p_kinds is null or 'proposal' = any (p_kinds)) and (p_module is null or p.module = p_module)
    ), goals as (
        select 'goal', 'goal:' || e.event_id, e.ts, coalesce(e.payload ->> 'module', g.module, 'companion'),
               coalesce(e.payload ->> 'title', g.title),
               jsonb_strip_nulls(jsonb_build_object(
                   'status', case e.type when 'GoalReached' then 'reached' when 'GoalExceeded' then 'exceeded'
                                         when 'GoalCreated' then 'set' else 'changed to ' || (e.payload ->> 'new_status') end,
                   'value', e.payload -> 'value', 'target', e.payload -> 'target', 'period', e.payload ->> 'period'))
        from companion_events e left join companion_goals g on g.id::text = e.payload ->> 'goal_id'
        where (p_kinds is null or 'goal' = any (p_kinds))
          and e.type in ('GoalCreated', 'GoalReached', 'GoalExceeded', 'GoalStatusChanged')
          and (p_module is null or p_module = coalesce(e.payload ->> 'module', g.module))
    ), worked as (
        -- What was said in a conversation stands there. A run that failed before it did anything has its end alone.
        select coalesce(e.mission_id, e.payload ->> 'mission_id') as mission_id,
               coalesce(e.iteration_id, e.payload ->> 'iteration_id') as iteration_id,
               min(e.ts) as at, min(e.seq) as seq, count(*) filter (where e.actor_kind = 'ai') as n,
               array_agg(distinct e.app_id) as modules,
               max(e.payload ->> 'status') filter (where e.type = 'MissionIterationFinished') as status
        from companion_events e
        where (p_kinds is null or 'iteration' = any (p_kinds))
          and (e.actor_kind = 'ai' and e.mission_id not like 'chat:%' or e.type = 'MissionIterationFinished')
        group by 1, 2
    ), iterations as (
        select 'iteration', 'iteration:' || w.mission_id || ':' || w.iteration_id, w.at,
               coalesce((select m from unnest(w.modules) m where m <> 'companion' order by m limit 1), 'companion'),
               coalesce(companion_mission_titles(array[w.mission_id]) ->> w.mission_id, w.mission_id),
               jsonb_build_object('status', coalesce(w.status, 'worked'), 'events', w.n, 'agent', e.actor ->> 'display_name',
                                  'mission_id', w.mission_id, 'iteration_id', w.iteration_id,
                                  'taken_back', (select count(*) from companion_reverts r where r.mission_id = w.mission_id
                                                 and r.iteration_id = w.iteration_id and r.outcome = 'reverted'))
        from worked w join companion_events e on e.seq = w.seq
        where p_module is null or p_module = any (w.modules)
    ), chats as (
        select 'chat', 'chat:' || c.id, c.last_message_at, 'companion',
               case when not exists (select from companion_conversation_dialogs d where d.conversation_id = c.id and d.named)
                    then c.title end,
               '{}'::jsonb
        from companion_conversations c
        where (p_kinds is null or 'chat' = any (p_kinds)) and (p_module is null or p_module = 'companion') and c.deleted_at is null
    ), whole as (
        select * from nudges union all select * from facts union all select * from correlations union all select * from proposals
        union all select * from goals union all select * from iterations union all select * from chats
    ), found as (
        select w.* from whole w
        where p_before is null or (w.at, w.id collate "C") < (p_before, coalesce(p_before_id, '') collate "C")
        order by w.at desc, w.id collate "C" desc limit k + 1
    ), page as (
        select f.* from found f order by f.at desc, f.id collate "C" desc limit k
    )
    select json_build_object(
        'rows', (select coalesce(json_agg(p order by p.at desc, p.id collate "C" desc), '[]') from page p),
        'more', (select count(*) from found) > k)
    into result;
    return result;
end
$$;
comment on function companion_feed is 'Nudges, insights, proposals, iterations, goals and conversations, newest first; filters before the limit.';

revoke execute on function companion_feed from public, anon, authenticated;
grant execute on function companion_feed to service_role;

notify pgrst, 'reload schema';
