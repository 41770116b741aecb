-- What people really asked, as material for a query set: recorded queries with how much of what they were shown is unjudged.
select set_config('search_path', 'public, extensions', true);

create or replace function desk_recorded_queries(p_query_set uuid, p_limit integer default 50, p_depth integer default 12) returns json
language sql stable set search_path = public, extensions set statement_timeout = '30s' as $$
    with recent as (
        select r.* from memory_retrievals r
        where r.scope = 'dialog' and r.query is not null
        order by r.at desc, r.id limit 2000
    ), asked as (
        select dialog_key, query, count(*) as times, max(at) as last_at, (array_agg(id order by at desc, id))[1] as latest
        from recent group by 1, 2
    ), known as (
        select a.*, q.id as query_id, q.category
        from asked a left join lateral (
            select q.id, q.category from desk_queries q
            where q.query_set = p_query_set and q.removed_at is null and q.dialog_key = a.dialog_key and q.query = a.query
            limit 1) q on true
    ), counted as (
        select k.*, c.shown, c.unjudged
        from known k cross join lateral (
            select count(*) as shown, count(*) filter (where not exists (
                       select from desk_judgements j
                       where j.query_id = k.query_id
                         and j.parts_hash = desk_parts_hash(c.source, c.source_id, c.text))) as unjudged
            from memory_retrieval_chunks c where c.retrieval = k.latest and c.rank <= p_depth) c
    )
    select json_build_object(
        'rows', (select coalesce(json_agg(x order by x.unjudged desc, x.last_at desc, x.dialog_key, x.query), '[]') from (
            select c.dialog_key, c.query, c.times, c.last_at, c.query_id, c.category, c.shown, c.unjudged, d.ru_id, d.tu_id
            from counted c left join desk_dialogs d on d.dialog_key = c.dialog_key
            where coalesce(d.chunks, 0) > 0 and (c.unjudged > 0 or c.query_id is null)
            order by c.unjudged desc, c.last_at desc, c.dialog_key, c.query
            limit greatest(0, least(coalesce(p_limit, 50), 200))) x),
        'total', (select count(*) from counted where unjudged > 0 or query_id is null))
$$;
comment on function desk_recorded_queries(uuid, integer, integer) is
    'Queries of the latest 2,000 recorded searches with unjudged results in their top places, the most first; query_id: the set has it.';

revoke execute on function desk_recorded_queries from public, anon, authenticated;
grant execute on function desk_recorded_queries to service_role;
