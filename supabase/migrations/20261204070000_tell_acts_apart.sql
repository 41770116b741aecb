-- What the Activity page asks since there are roles: kinds of acts, who acts and for whom, and how many there are of each.
select set_config('search_path', 'public, extensions', true);

create or replace function desk_event_by(p_actor_kind text, p_principal text) returns text
language sql immutable set search_path = public, extensions as $$
    select case when p_actor_kind = 'user' and (p_principal like 'token:%' or p_principal like 'api:%') then 'api'
                else coalesce(p_actor_kind, 'user') end
$$;
comment on function desk_event_by(text, text) is 'Who acts: user (a person), api (a program with a token), system, ai.';

-- A name of its own: with other arguments under the old one PostgREST could not choose.

create or replace function desk_acts(
    p_about text default null, p_app_id text default null, p_type text default null, p_class text default null,
    p_by text default null, p_principal text default null, p_since timestamptz default null,
    p_until timestamptz default null, p_types text[] default null, p_without text[] default null,
    p_or_ai boolean default false, p_limit integer default 50, p_before_seq bigint default null
) returns json
language plpgsql stable set search_path = public, extensions set statement_timeout = '10s' as $$
declare
    k integer := greatest(1, least(coalesce(p_limit, 50), 1000));
    -- p_about: a dialog key, a request, a record, or an event (then also what it led to).
    event uuid := case when p_about ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' then p_about::uuid end;
    result json;
begin
    with found as (
        select e.* from companion_events e
        where (p_about is null or e.record_id = p_about or e.payload ->> 'dialog_key' = p_about
               or e.payload ->> 'request_id' = p_about or e.event_id = event or e.caused_by = event)
          and (p_app_id is null or e.app_id = p_app_id) and (p_type is null or e.type = p_type)
          and (p_types is null or e.type = any (p_types) or (p_or_ai and e.actor_kind = 'ai'))
          and (p_without is null or e.type <> all (p_without)) and (p_class is null or e.class = p_class)
          and (p_by is null or desk_event_by(e.actor_kind, e.actor ->> 'principal_id') = p_by)
          and (p_principal is null or e.actor ->> 'principal_id' = p_principal)
          and (p_since is null or e.ts >= p_since) and (p_until is null or e.ts < p_until)
          and (p_before_seq is null or e.seq < p_before_seq)
        order by e.seq desc
        limit k + 1
    ), page as (
        select f.* from found f order by f.seq desc limit k
    ), shown as (
        select p.*,
               -- An AI acts for whoever it was told with, else for whoever began its mission or its conversation.
               case when p.actor_kind = 'ai' then coalesce(p.actor ->> 'on_behalf_of', (
                   select b.actor ->> 'display_name' from companion_events b
                   where b.record_id = regexp_replace(p.mission_id, '^chat:', '')
                     and b.type in ('MissionCreated', 'CompanionConversationStarted')
                   order by b.seq limit 1)) end as on_behalf_of,
               case when p.actor_kind = 'ai' then (
                   select c.decider ->> 'display_name' from companion_proposals c
                   where c.mission_id = p.mission_id and c.iteration_id = p.iteration_id and c.status = 'approved'
                     and c.decided_at <= p.ts
                   order by (c.id::text = p.record_id) desc nulls last, c.decided_at desc limit 1) end as approved_by
        from page p
    )
    select json_build_object(
        'rows', (select coalesce(json_agg(shown order by shown.seq desc), '[]') from shown),
        'next_before_seq', case when (select count(*) from found) > k then (select min(seq) from page) end)
    into result;
    return result;
end
$$;
comment on function desk_acts is
    'Events, newest first, every filter before the limit; for whom an AI acted, who approved it; next_before_seq leads on.';

create or replace function desk_activity_counts(
    p_about text default null, p_principal text default null, p_since timestamptz default null,
    p_until timestamptz default null
) returns json
language plpgsql stable set search_path = public, extensions set statement_timeout = '10s' as $$
declare
    event uuid := case when p_about ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' then p_about::uuid end;
    result json;
begin
    with counted as (
        select e.type, e.class, e.app_id, e.actor_kind, e.actor ->> 'principal_id' as principal,
               (e.actor ->> 'display_name') as name, count(*) as n, max(e.seq) as last_seq
        from companion_events e
        where (p_about is null or e.record_id = p_about or e.payload ->> 'dialog_key' = p_about
               or e.payload ->> 'request_id' = p_about or e.event_id = event or e.caused_by = event)
          and (p_since is null or e.ts >= p_since) and (p_until is null or e.ts < p_until)
        group by 1, 2, 3, 4, 5, 6
    ), kinds as (
        select c.type, c.class, c.app_id, desk_event_by(c.actor_kind, c.principal) as "by", sum(c.n) as n
        from counted c where p_principal is null or c.principal = p_principal
        group by 1, 2, 3, 4
    ), actors as (
        -- A name is as it was then: the latest counts.
        select c.principal, (array_agg(c.name order by c.last_seq desc))[1] as name,
               min(desk_event_by(c.actor_kind, c.principal)) as "by", sum(c.n) as n
        from counted c where c.principal is not null
        group by 1 order by sum(c.n) desc, c.principal limit 200
    )
    select json_build_object(
        'kinds', (select coalesce(json_agg(kinds), '[]') from kinds),
        'actors', (select coalesce(json_agg(actors), '[]') from actors))
    into result;
    return result;
end
$$;
comment on function desk_activity_counts is 'How many events there are by type, class, part and who acts, and of whom.';

revoke execute on function desk_event_by, desk_acts, desk_activity_counts from public, anon, authenticated;
grant execute on function desk_event_by, desk_acts, desk_activity_counts to service_role;
notify pgrst, 'reload schema';
