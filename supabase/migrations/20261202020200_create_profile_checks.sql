-- How a profile does on live searches, beside the one before it; and the latest searches, for a what-if over them.
select set_config('search_path', 'public, extensions', true);

-- Up to p_most records of one version, the latest before p_until; figures only, nothing of anybody.
create or replace function desk_profile_figures(
    p_version integer, p_since timestamptz, p_until timestamptz, p_most integer default 1000
) returns json
language plpgsql stable set search_path = public, extensions set statement_timeout = '15s' as $$
declare
    ids uuid[];
    judged bigint;
    returned bigint;
    result json;
begin
    select coalesce(array_agg(x.id), '{}') into ids from (
        select r.id from memory_retrievals r
        where r.scope = 'dialog' and r.weights_version = p_version and r.at >= coalesce(p_since, '-infinity')
          and r.at < coalesce(p_until, 'infinity')
        order by r.at desc, r.id limit p_most) x;
    select count(*) into returned from memory_retrieval_chunks c where c.retrieval = any (ids);
    if to_regclass('public.desk_judgements') is not null then
        execute 'select count(*) from memory_retrieval_chunks c where c.retrieval = any ($1)
                   and exists (select from desk_judgements j where j.chunk_id = c.chunk_id)' into judged using ids;
    end if;
    select json_build_object(
        'searches', count(*), 'fallback', count(*) filter (where r.fallback), 'empty', count(*) filter (where r.results = 0),
        'top_mean', avg(r.top_score) filter (where not r.fallback),
        'top_sd', stddev_pop(r.top_score) filter (where not r.fallback),
        'tokens_mean', avg(r.tokens), 'first_at', min(r.at), 'last_at', max(r.at),
        'returned', returned, 'judged', judged,
        'slots', (select coalesce(json_object_agg(s.source, s.n), '{}') from (
                      select c.source, count(*) as n from memory_retrieval_chunks c
                      where c.retrieval = any (ids) group by 1) s))
    into result from memory_retrievals r where r.id = any (ids);
    return result;
end
$$;
comment on function desk_profile_figures(integer, timestamptz, timestamptz, integer) is
    'Live searches of one profile in a time: how many, fallback, empty, slots by source, judged share, top score.';

create or replace function desk_profile_after_check() returns json
language plpgsql stable set search_path = public, extensions set statement_timeout = '30s' as $$
declare
    open_one desk_profile_activations;
begin
    select * into open_one from desk_profile_activations where ended_at is null;
    return json_build_object(
        'version', open_one.version, 'since', open_one.active_at, 'before_version', open_one.previous,
        'now', desk_profile_figures(open_one.version, open_one.active_at, null),
        'before', case when open_one.previous is not null
                       then desk_profile_figures(open_one.previous, null, open_one.active_at) end);
end
$$;
comment on function desk_profile_after_check() is 'The figures of the active profile since it became so, and of the one before.';

create or replace function desk_recent_queries(p_limit integer default 200) returns json
language sql stable set search_path = public, extensions set statement_timeout = '15s' as $$
    with latest as (
        select r.id, r.at, r.dialog_key, r.query, r.client_id, r.compose_mode, r.asked_limit, r.weights_version
        from memory_retrievals r
        where r.scope = 'dialog' and not r.fallback and r.query is not null
        order by r.at desc, r.id limit greatest(0, least(coalesce(p_limit, 200), 500))
    )
    select json_build_object(
        'rows', coalesce((select json_agg(l order by l.at desc, l.id) from latest l), '[]'),
        'total', (select count(*) from memory_retrievals r
                  where r.scope = 'dialog' and not r.fallback and r.query is not null))
$$;
comment on function desk_recent_queries(integer) is 'The latest recorded searches of one dialog each, without their results.';

revoke execute on function desk_profile_figures, desk_profile_after_check, desk_recent_queries from public, anon, authenticated;
grant execute on function desk_profile_figures, desk_profile_after_check, desk_recent_queries to service_role;
