-- Search as the product does it: like the service's own function, but among the rows of one embedding model (the cosine
-- between two models means nothing) and with the parts of each score. Queries come as pgvector's text form, '[0.1,..]', and
-- are read once into a variable: as a parameter of a query they could be parsed again for every row.
select set_config('search_path', 'public, extensions', true);
-- Loads the library. Without it a role that is not superuser may not name hnsw.* in `create function .. set`.
select '[1]'::vector;

-- The rule of "superseded", for some rows: another row of the same dialog, source and source_id has another text and is
-- newer. Newer is a later updated_at: the service writes what is still current again at each ingest, ours touches it when
-- something newer came beside it. Rows of one ingest (same created_at) never supersede each other, so the pieces of a split
-- note do not. The line "photo is available" and the summary of what is seen on it share the URL and are two facts.
create or replace function desk_superseded(p_ids uuid[]) returns setof uuid
language sql stable set search_path = public, extensions rows 10 as $$
    select c.id
    from unnest(p_ids) i join client_memory_chunks c on c.id = i
    where c.source_id <> ''
      and not (c.source = 'photo' and starts_with(c.text, 'Main profile photo is available:'))
      and exists (
          select from client_memory_chunks n
          where n.dialog_key = c.dialog_key and n.source = c.source and n.source_id = c.source_id
            and n.updated_at > c.updated_at and n.created_at is distinct from c.created_at and n.text <> c.text
            and not (n.source = 'photo' and starts_with(n.text, 'Main profile photo is available:')))
$$;
comment on function desk_superseded(uuid[]) is
    'Which of these chunks have been replaced by a newer text of the same source_id.';

create or replace function desk_search(
    p_dialog_key text, p_query text, p_model text, p_limit integer default 12, p_weights jsonb default '{}',
    p_client_id text default null, p_compose_mode text default null
) returns json
language plpgsql stable set search_path = public, extensions as $$
declare
    q vector := p_query::vector;
    result json;
begin
    -- Materialized, (id, score) only: see match_client_memory_chunks.
    with d as materialized (
        select c.id, c.source, c.embedding_model,
               case when c.embedding_model = p_model
                    then 1 - coalesce(nullif(c.embedding <=> q, 'NaN'), 1) end as cosine
        from client_memory_chunks c
        where c.dialog_key = p_dialog_key
          and (p_client_id is null or c.client_id is null or c.client_id = p_client_id)
          and (p_compose_mode is null or c.compose_mode in (p_compose_mode, 'both'))
    ), best as (
        select d.id, d.cosine, coalesce((p_weights ->> d.source)::double precision, 0) as boost
        from d where d.cosine is not null
        order by d.cosine + coalesce((p_weights ->> d.source)::double precision, 0) desc, d.id
        limit greatest(1, least(coalesce(p_limit, 12), 1000))
    ), hits as (
        select c.id, c.source, c.source_id, c.text, b.cosine + b.boost as weighted_score, b.cosine, b.boost, c.note_date,
               c.sent_at, c.direction
        from best b join client_memory_chunks c on c.id = b.id
        order by b.cosine + b.boost desc, b.id
    ), models as (
        select d.embedding_model as model, count(*) as n from d group by 1
    )
    select json_build_object(
        'rows', (select coalesce(json_agg(hits), '[]') from hits),
        'total', coalesce((select sum(n) from models), 0),
        'searchable', coalesce((select n from models where model = p_model), 0),
        'other_models', (select coalesce(json_object_agg(coalesce(model, 'none'), n order by n desc, model), '{}')
                         from models where model is distinct from p_model))
    into result;
    return result;
end
$$;
comment on function desk_search is
    'The best chunks of one dialog among the rows of one embedding model, with cosine and boost.';

create or replace function desk_candidates(
    p_dialog_key text, p_query text, p_model text, p_client_id text default null, p_compose_mode text default null,
    p_texts integer default 50
) returns json
language plpgsql stable set search_path = public, extensions as $$
declare
    q vector := p_query::vector;
    best uuid[];
    result json;
begin
    with d as materialized (
        select c.id, c.source, c.embedding_model,
               not (p_client_id is null or c.client_id is null or c.client_id = p_client_id) as other_client,
               not (p_compose_mode is null or c.compose_mode in (p_compose_mode, 'both')) as other_mode,
               case when c.embedding_model = p_model
                    then 1 - coalesce(nullif(c.embedding <=> q, 'NaN'), 1) end as cosine
        from client_memory_chunks c
        where c.dialog_key = p_dialog_key
    ), ranked as materialized (
        select d.id, d.source, d.cosine, row_number() over (partition by d.source order by d.cosine desc, d.id) as place
        from d where d.cosine is not null and not d.other_client and not d.other_mode
    ), listed as (
        select r.id, r.source, r.cosine from ranked r order by r.cosine desc, r.id
    ), arrays as (
        select json_agg(id) as ids, json_agg(source) as sources, json_agg(cosine) as cosines from listed
    ), shown as (
        select r.id, r.cosine from ranked r where r.place <= coalesce(p_texts, 50)
    ), old as materialized (
        select s.id from desk_superseded(array(select id from shown)) s (id)
    ), texts as (
        select c.id, c.source, c.source_id, c.text, c.note_date, c.sent_at, c.direction, c.updated_at,
               exists (select from old where old.id = c.id) as superseded
        from shown s join client_memory_chunks c on c.id = s.id
        order by s.cosine desc, s.id
    ), models as (
        select d.embedding_model as model, count(*) as n from d where not d.other_client and not d.other_mode group by 1
    )
    select json_build_object(
        'ids', coalesce(a.ids, '[]'), 'sources', coalesce(a.sources, '[]'), 'cosines', coalesce(a.cosines, '[]'),
        'rows', (select coalesce(json_agg(texts), '[]') from texts),
        'total', coalesce((select sum(n) from models), 0),
        'searchable', coalesce((select n from models where model = p_model), 0),
        'other_models', (select coalesce(json_object_agg(coalesce(model, 'none'), n order by n desc, model), '{}')
                         from models where model is distinct from p_model),
        'excluded', (select json_build_object('client_id', count(*) filter (where other_client),
                                              'compose_mode', count(*) filter (where other_mode and not other_client))
                     from d))
    into result
    from arrays a;
    return result;
end
$$;
comment on function desk_candidates is
    'Every searchable chunk of one dialog with its cosine, and the texts of the best of each source.';

create or replace function desk_chunks_by_id(p_ids uuid[]) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(r order by r.place), '[]')
    from (
        select i.place, c.id, c.dialog_key, c.content_hash, c.client_id, c.woman_id, c.favorite_id, c.source, c.source_id,
               c.text, c.direction, c.compose_mode, c.embedding_model, c.language, c.note_date, c.sent_at, c.tags,
               c.metadata, c.created_at, c.updated_at, c.id in (select desk_superseded(p_ids)) as superseded
        from unnest(p_ids) with ordinality i (id, place) join client_memory_chunks c on c.id = i.id
    ) r
$$;
comment on function desk_chunks_by_id(uuid[]) is 'These chunks in the order asked for, without the embedding.';

-- Over all dialogs. A boost is constant per source, so the order within a source is that of the distance, and the best k of
-- the union are among the best k of each source: one scan per source, then boost and merge. Strict order and ef_search 100
-- were measured at a recall of 0.99; the default of 40 drops to none on some queries.
create or replace function desk_match_across(
    p_query text, p_model text, p_weights jsonb default '{}', p_limit integer default 24,
    p_exclude_dialog text default null, p_exact_below integer default 20000
) returns json
language plpgsql stable set search_path = public, extensions
set hnsw.iterative_scan = 'strict_order' set hnsw.ef_search = '100' set jit = off as $$
declare
    q vector := p_query::vector;
    k integer := greatest(1, least(coalesce(p_limit, 24), 200));
    rows_found bigint;
    hit_ids uuid[];
    hit_cosines double precision[];
    way text := 'exact';
    result json;
begin
    -- Counting stops where it no longer matters.
    select count(*) into rows_found
    from (select from client_memory_chunks c where c.embedding_model = p_model
            and (p_exclude_dialog is null or c.dialog_key <> p_exclude_dialog)
          limit greatest(coalesce(p_exact_below, 20000), 0) + 1) few;

    if rows_found <= coalesce(p_exact_below, 20000) then
        with d as materialized (
            select c.id, c.source, 1 - coalesce(nullif(c.embedding <=> q, 'NaN'), 1) as cosine
            from client_memory_chunks c
            where c.embedding_model = p_model and (p_exclude_dialog is null or c.dialog_key <> p_exclude_dialog)
        ), best as (
            select d.id, d.cosine from d
            order by d.cosine + coalesce((p_weights ->> d.source)::double precision, 0) desc, d.id limit k
        )
        select array_agg(id), array_agg(cosine) into hit_ids, hit_cosines from best;
    else
        way := 'hnsw';
        with hits as materialized (
            select x.id, s.source, x.cosine
            from unnest(array['note', 'profile', 'photo', 'summary', 'conversation']) s (source)
            cross join lateral (
                select c.id, 1 - (c.embedding <=> q) as cosine
                from client_memory_chunks c
                where c.source = s.source and c.embedding_model = p_model
                  and (p_exclude_dialog is null or c.dialog_key <> p_exclude_dialog)
                order by c.embedding <=> q
                limit k
            ) x
        ), best as (
            select h.id, h.cosine from hits h
            order by h.cosine + coalesce((p_weights ->> h.source)::double precision, 0) desc, h.id limit k
        )
        select array_agg(b.id), array_agg(b.cosine), (select count(*) from hits)
        into hit_ids, hit_cosines, rows_found from best b;
    end if;

    with old as materialized (
        select s.id from desk_superseded(hit_ids) s (id)
    )
    select json_build_object('rows', coalesce(json_agg(r order by r.weighted_score desc, r.id), '[]'),
                             'method', way, 'scanned', rows_found)
    into result
    from (
        select c.id, c.dialog_key, c.source, c.source_id, c.text,
               h.cosine + coalesce((p_weights ->> c.source)::double precision, 0) as weighted_score, h.cosine,
               coalesce((p_weights ->> c.source)::double precision, 0) as boost, c.note_date, c.sent_at, c.direction,
               exists (select from old where old.id = c.id) as superseded
        from unnest(hit_ids, hit_cosines) h (id, cosine) join client_memory_chunks c on c.id = h.id
    ) r;
    return result;
end
$$;
comment on function desk_match_across is
    'The best chunks of all dialogs: exact among few rows, by the vector index among many.';

revoke execute on function desk_superseded, desk_search, desk_candidates, desk_chunks_by_id, desk_match_across
    from public, anon, authenticated;
grant execute on function desk_superseded, desk_search, desk_candidates, desk_chunks_by_id, desk_match_across
    to service_role;
