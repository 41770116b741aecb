-- Memory rent: what each source and each chunk takes of the recorded prompts, against how often somebody judged it relevant
-- there; and within a dialog what says the same twice, or is old.
select set_config('search_path', 'public, extensions', true);

-- A place in a prompt is judged where the same words were asked of the same dialog in a query set and a person graded that
-- chunk for them: the latest grade of each judge, the lowest where judges differ. The call that a record belongs to is the
-- one of its request with the longest prompt; embedding and photo calls carry no memory.
create or replace function desk_rent(
    p_dialog_key text default null, p_since timestamptz default null, p_chunks integer default 200,
    p_records integer default 5000
) returns json
language sql stable set search_path = public, extensions set statement_timeout = '30s' as $$
    with records as materialized (
        select r.id, r.at, r.dialog_key, r.query, u.provider, u.model, (r.at at time zone 'UTC')::date as day
        from (select * from memory_retrievals r
              where r.scope = 'dialog' and (p_dialog_key is null or r.dialog_key = p_dialog_key)
                and (p_since is null or r.at >= p_since)
              order by r.at desc, r.id limit greatest(1, least(coalesce(p_records, 5000), 20000))) r
        left join lateral (
            select u.provider, u.model from token_usage_log u
            where u.request_id = case when r.request_id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then r.request_id::uuid end
              and coalesce(u.phase, '') not in ('embed', 'photo')
            order by u.prompt_tokens desc nulls last, u.at, u.id limit 1) u on true
    ), grades as materialized (
        select l.dialog_key, l.query, l.chunk_id, min(l.grade) as grade
        from (select distinct on (j.query_id, j.chunk_id, j.judge) j.chunk_id, j.grade, q.dialog_key, q.query
              from desk_judgements j join desk_queries q on q.id = j.query_id
              where j.label_source = 'person' and q.removed_at is null
                and (p_dialog_key is null or q.dialog_key = p_dialog_key)
              order by j.query_id, j.chunk_id, j.judge, j.n desc) l
        group by 1, 2, 3
    ), places as materialized (
        select c.chunk_id, c.dialog_key, c.source, c.tokens, c.text, r.id, r.at, r.provider, r.model, r.day, g.grade
        from records r join memory_retrieval_chunks c on c.retrieval = r.id
        left join grades g on g.dialog_key = r.dialog_key and g.query = r.query and g.chunk_id = c.chunk_id
    ), source_calls as (
        select source, json_agg(json_build_object('provider', provider, 'model', model, 'day', day, 'tokens', tokens)
                                order by day, provider, model) as calls
        from (select source, provider, model, day, sum(tokens) as tokens from places group by 1, 2, 3, 4) x group by 1
    ), sources as (
        select source, count(*) as places, count(distinct id) as records, count(distinct chunk_id) as chunks,
               sum(tokens) as tokens,
               count(*) filter (where grade > 0) as relevant, count(*) filter (where grade = 0) as irrelevant,
               coalesce(sum(tokens) filter (where grade > 0), 0) as relevant_tokens,
               coalesce(sum(tokens) filter (where grade = 0), 0) as irrelevant_tokens
        from places group by 1
    ), top as materialized (
        select chunk_id, count(*) as places, sum(tokens) as tokens, max(at) as last_at,
               count(*) filter (where grade > 0) as relevant, count(*) filter (where grade = 0) as irrelevant,
               (array_agg(dialog_key order by at desc))[1] as dialog_key, (array_agg(source order by at desc))[1] as source,
               (array_agg(text order by at desc))[1] as text
        from places group by 1
        order by 3 desc, 1 limit greatest(1, least(coalesce(p_chunks, 200), 1000))
    ), chunk_calls as (
        select chunk_id, json_agg(json_build_object('provider', provider, 'model', model, 'day', day, 'tokens', tokens)
                                  order by day, provider, model) as calls
        from (select p.chunk_id, p.provider, p.model, p.day, sum(p.tokens) as tokens
              from places p join top t using (chunk_id) group by 1, 2, 3, 4) x group by 1
    ), asked as (
        select g.chunk_id, count(*) as judged_queries, count(*) filter (where g.grade > 0) as relevant_queries
        from grades g join top t using (chunk_id) group by 1
    )
    select json_build_object(
        'records', (select count(*) from records), 'first_at', (select min(at) from records),
        'last_at', (select max(at) from records),
        'capped', (select count(*) from records) >= greatest(1, least(coalesce(p_records, 5000), 20000)),
        'chunks_in_prompts', (select count(distinct chunk_id) from places),
        'sources', (select coalesce(json_agg(json_build_object(
            'source', s.source, 'places', s.places, 'records', s.records, 'chunks', s.chunks, 'tokens', s.tokens,
            'relevant', s.relevant, 'irrelevant', s.irrelevant, 'relevant_tokens', s.relevant_tokens,
            'irrelevant_tokens', s.irrelevant_tokens, 'calls', k.calls) order by s.tokens desc, s.source), '[]')
            from sources s join source_calls k using (source)),
        'chunks', (select coalesce(json_agg(json_build_object(
            'chunk_id', t.chunk_id, 'dialog_key', t.dialog_key, 'source', t.source, 'text', t.text, 'places', t.places,
            'tokens', t.tokens, 'last_at', t.last_at, 'relevant', t.relevant, 'irrelevant', t.irrelevant,
            'judged_queries', coalesce(a.judged_queries, 0), 'relevant_queries', coalesce(a.relevant_queries, 0),
            'stored', exists (select from client_memory_chunks c where c.id = t.chunk_id), 'calls', k.calls)
            order by t.tokens desc, t.chunk_id), '[]')
            from top t join chunk_calls k using (chunk_id) left join asked a using (chunk_id)))
$$;
comment on function desk_rent(text, timestamptz, integer, integer) is
    'Tokens of recorded prompts by source and of the costliest chunks, with the calls that paid for them and what was judged.';

-- Near: cosine of two chunks of p_model at least p_cosine, over the newest p_compare chunks; two lines of a profile are alike
-- by their form and are left out. Equal: the same words, whatever their case, white space and apostrophes.
create or replace function desk_rent_dialog(
    p_dialog_key text, p_model text, p_cosine double precision default 0.96, p_days integer default 180,
    p_compare integer default 1000, p_limit integer default 200
) returns json
language sql stable set search_path = public, extensions set statement_timeout = '30s' as $$
    with c as materialized (
        select x.id, x.source, x.source_id, x.text, x.note_date, x.sent_at, x.updated_at, x.embedding_model,
               md5(lower(btrim(regexp_replace(translate(normalize(x.text), U&'\2019\02BC', ''''''), '\s+', ' ', 'g')))) as words
        from client_memory_chunks x where x.dialog_key = p_dialog_key
    ), newest as materialized (
        select c.id, c.source, c.words from c
        where c.embedding_model = p_model
        order by coalesce(c.sent_at, c.note_date, c.updated_at) desc nulls last, c.id
        limit greatest(2, least(coalesce(p_compare, 1000), 2000))
    ), vectors as materialized (
        select n.id, n.source, n.words, x.embedding from newest n join client_memory_chunks x on x.id = n.id
    ), near as (
        select a.id as a, b.id as b, 1 - (a.embedding <=> b.embedding) as cosine
        from vectors a join vectors b on a.id < b.id
        where a.words <> b.words and not (a.source = 'profile' and b.source = 'profile')
          and 1 - (a.embedding <=> b.embedding) >= p_cosine
    ), equal as (
        select words, array_agg(id order by updated_at desc nulls last, id) as ids from c group by 1 having count(*) > 1
    ), replaced as materialized (
        select s as id from desk_superseded(array(select id from c)) s
    ), old as (
        select c.id, c.note_date < current_date - p_days as aged, c.id in (select id from replaced) as superseded
        from c where c.source in ('note', 'summary')
          and (c.note_date < current_date - p_days or c.id in (select id from replaced))
    ), notes as (
        select c.id from c
        where c.source in ('note', 'summary', 'profile') and c.id not in (select id from replaced)
        order by c.note_date desc nulls last, c.id limit 400
    ), pairs as (select * from near order by cosine desc, a, b limit p_limit),
    groups as (select * from equal order by cardinality(ids) desc, words limit p_limit),
    olds as (select * from old order by id limit p_limit)
    select json_build_object(
        'chunks', (select count(*) from c), 'compared', (select count(*) from newest),
        'comparable', (select count(*) from c where embedding_model = p_model),
        'near', (select coalesce(json_agg(pairs order by cosine desc, a, b), '[]') from pairs),
        'near_total', (select count(*) from near),
        'equal', (select coalesce(json_agg(ids order by cardinality(ids) desc, words), '[]') from groups),
        'equal_total', (select count(*) from equal),
        'old', (select coalesce(json_agg(olds), '[]') from olds), 'old_total', (select count(*) from old),
        'notes', (select coalesce(json_agg(id), '[]') from notes),
        'notes_total', (select count(*) from c where source in ('note', 'summary', 'profile')
                          and id not in (select id from replaced)),
        'rows', (select coalesce(json_object_agg(c.id, json_build_object(
            'source', c.source, 'source_id', c.source_id, 'text', c.text, 'note_date', c.note_date, 'sent_at', c.sent_at)), '{}')
            from c where c.id in (select a from pairs union select b from pairs union select unnest(ids) from groups
                                  union select id from olds union select id from notes)))
$$;
comment on function desk_rent_dialog is
    'Chunks of a dialog that say the same (equal words, near vectors), old notes, and the notes to look for contradictions in.';

revoke execute on function desk_rent, desk_rent_dialog from public, anon, authenticated;
grant execute on function desk_rent, desk_rent_dialog to service_role;

notify pgrst, 'reload schema';
