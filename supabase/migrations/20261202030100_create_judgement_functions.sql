-- Query sets, queries, grades: written with their event in one transaction, read as one JSON value.
select set_config('search_path', 'public, extensions', true);

create or replace function desk_touch_query_set(p_id uuid) returns void
language sql set search_path = public, extensions as $$
    update desk_query_sets set version = version + 1, updated_at = now() where id = p_id
$$;
comment on function desk_touch_query_set(uuid) is 'Another version of a query set, after something in it changed.';

create or replace function desk_create_query_set(p_id uuid, p_name text, p_note text, p_event jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    made bigint;
begin
    insert into desk_query_sets (id, name, note, actor) values (p_id, p_name, p_note, coalesce(p_event -> 'actor', '{}'))
    on conflict (id) do nothing;
    get diagnostics made = row_count;
    if made > 0 then
        perform desk_append_event(p_event, jsonb_build_object('query_set', p_id));
    end if;
    return json_build_object('id', p_id, 'created', made > 0);
end
$$;
comment on function desk_create_query_set(uuid, text, text, jsonb) is 'A new query set; the same id twice is one set.';

create or replace function desk_archive_query_set(p_id uuid, p_archived boolean, p_event jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    changed bigint;
begin
    update desk_query_sets set archived_at = case when p_archived then now() end, updated_at = now()
    where id = p_id and (archived_at is null) = p_archived;
    get diagnostics changed = row_count;
    if changed > 0 then
        perform desk_append_event(p_event, jsonb_build_object('query_set', p_id));
    end if;
    return json_build_object('changed', changed > 0);
end
$$;
comment on function desk_archive_query_set(uuid, boolean, jsonb) is 'Puts a query set away, or brings it back; nothing is deleted.';

create or replace function desk_query_sets_list(p_archived boolean default false) returns json
language sql stable set search_path = public, extensions as $$
    with q as (
        select q.query_set, count(*) as queries, count(distinct q.dialog_key) as dialogs,
               count(distinct q.category) as categories,
               coalesce(sum(j.rows), 0) as judgements, coalesce(sum(j.llm), 0) as llm,
               count(*) filter (where j.relevant > 0) as with_relevant, count(*) filter (where j.rows > 0) as judged
        from desk_queries q
        left join lateral (
            select count(*) as rows, count(*) filter (where l.label_source = 'llm') as llm,
                   count(*) filter (where l.grade > 0 and l.label_source = 'person') as relevant
            from (select distinct on (j.parts_hash, j.judge, j.label_source) j.grade, j.label_source
                  from desk_judgements j where j.query_id = q.id
                  order by j.parts_hash, j.judge, j.label_source, j.n desc) l) j on true
        where q.removed_at is null group by 1
    )
    select coalesce(json_agg(json_build_object(
        'id', s.id, 'name', s.name, 'note', s.note, 'version', s.version, 'created_at', s.created_at,
        'updated_at', s.updated_at, 'archived_at', s.archived_at, 'queries', coalesce(q.queries, 0),
        'dialogs', coalesce(q.dialogs, 0), 'judgements', coalesce(q.judgements, 0), 'llm', coalesce(q.llm, 0),
        'judged', coalesce(q.judged, 0), 'with_relevant', coalesce(q.with_relevant, 0))
        order by s.updated_at desc, s.id), '[]')
    from desk_query_sets s left join q on q.query_set = s.id
    where (s.archived_at is not null) = coalesce(p_archived, false)
$$;
comment on function desk_query_sets_list(boolean) is 'Query sets with their counts, the latest change first.';

create or replace function desk_query_set(p_id uuid) returns json
language sql stable set search_path = public, extensions set statement_timeout = '60s' as $$
    with q as materialized (
        select q.id, q.dialog_key, q.query, q.category, q.note, q.created_at, d.ru_id, d.tu_id, coalesce(d.chunks, 0) as chunks
        from desk_queries q left join desk_dialogs d on d.dialog_key = q.dialog_key
        where q.query_set = p_id and q.removed_at is null
    ), latest as materialized (
        select distinct on (j.query_id, j.parts_hash, j.judge, j.label_source) j.*,
               count(*) over (partition by j.query_id, j.parts_hash, j.judge, j.label_source) as times
        from desk_judgements j where j.query_id in (select id from q)
        order by j.query_id, j.parts_hash, j.judge, j.label_source, j.n desc
    ), placed as (
        select l.*, coalesce(a.id, b.id) as now_id
        from latest l join q on q.id = l.query_id
        left join lateral (
            select c.id from client_memory_chunks c
            where c.dialog_key = q.dialog_key and c.id = l.chunk_id
              and desk_parts_hash(c.source, c.source_id, c.text) = l.parts_hash
            union all
            select c.id from client_memory_chunks c
            where c.dialog_key = q.dialog_key and c.content_hash = l.content_hash
            limit 1) a on true
        left join lateral (
            select c.id from client_memory_chunks c
            where a.id is null and c.dialog_key = q.dialog_key and c.source = l.source
              and desk_parts_hash(c.source, c.source_id, c.text) = l.parts_hash
            order by c.id limit 1) b on true
    ), by_query as (
        select p.query_id, json_agg(json_build_object(
            'id', p.id, 'chunk_id', coalesce(p.now_id, p.chunk_id), 'present', p.now_id is not null,
            'content_hash', p.content_hash, 'parts_hash', p.parts_hash, 'source', p.source, 'source_id', p.source_id,
            'grade', p.grade, 'why', p.why, 'label_source', p.label_source, 'judge', p.judge, 'times', p.times,
            'created_at', p.created_at) order by p.n) as rows
        from placed p group by 1
    )
    select json_build_object(
        'set', (select json_build_object('id', s.id, 'name', s.name, 'note', s.note, 'version', s.version,
                                         'created_at', s.created_at, 'updated_at', s.updated_at, 'archived_at', s.archived_at)
                from desk_query_sets s where s.id = p_id),
        'queries', (select coalesce(json_agg(json_build_object(
            'id', q.id, 'dialog_key', q.dialog_key, 'query', q.query, 'category', q.category, 'note', q.note,
            'created_at', q.created_at, 'ru_id', q.ru_id, 'tu_id', q.tu_id, 'chunks', q.chunks,
            'judgements', coalesce(b.rows, '[]')) order by q.created_at, q.id), '[]')
            from q left join by_query b on b.query_id = q.id))
$$;
comment on function desk_query_set(uuid) is
    'A query set with its queries and the latest grade of each judge; present: the chunk is stored now, under chunk_id.';

create or replace function desk_add_queries(p_query_set uuid, p_queries jsonb, p_event jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    added bigint;
    given bigint;
begin
    perform from desk_query_sets where id = p_query_set for update;
    if not found then
        return json_build_object('outcome', 'missing');
    end if;
    select count(*) into given from jsonb_array_elements(p_queries);
    insert into desk_queries (id, query_set, dialog_key, query, category, note, actor)
    select r.id, p_query_set, r.dialog_key, r.query, r.category, r.note, coalesce(p_event -> 'actor', '{}')
    from (select distinct on (x.dialog_key, x.query) x.*
          from rows from (jsonb_to_recordset(p_queries) as (
              id uuid, dialog_key text, query text, category text, note text)) with ordinality x
          order by x.dialog_key, x.query, x.ordinality) r
    where exists (select from client_memory_chunks c where c.dialog_key = r.dialog_key)
      and not exists (select from desk_queries q where q.query_set = p_query_set and q.removed_at is null
                        and q.dialog_key = r.dialog_key and q.query = r.query)
    order by r.ordinality -- as they were written: created_at is the clock's
    on conflict (id) do nothing;
    get diagnostics added = row_count;
    if added > 0 then
        perform desk_touch_query_set(p_query_set);
        perform desk_append_event(p_event, jsonb_build_object('query_set', p_query_set, 'count', added));
    end if;
    return json_build_object('outcome', 'done', 'added', added, 'present', given - added);
end
$$;
comment on function desk_add_queries(uuid, jsonb, jsonb) is
    'Adds [{id, dialog_key, query, category, note}]; one that the set has, or whose dialog holds nothing, is left out.';

create or replace function desk_remove_query(p_id uuid, p_event jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    query_set uuid;
    dialog text;
begin
    update desk_queries q set removed_at = now() where q.id = p_id and q.removed_at is null
    returning q.query_set, q.dialog_key into query_set, dialog;
    if query_set is not null then
        perform desk_touch_query_set(query_set);
        perform desk_append_event(p_event, jsonb_build_object('query_set', query_set, 'query_id', p_id, 'dialog_key', dialog));
    end if;
    return json_build_object('removed', query_set is not null);
end
$$;
comment on function desk_remove_query(uuid, jsonb) is 'Takes a query out of its set; its judgements stay with it.';

create or replace function desk_judge(p_rows jsonb, p_event jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    absent jsonb;
    given bigint;
    sets uuid[];
    facts jsonb;
begin
    with r as (
        select r.*, q.query_set, q.dialog_key, c.id as held
        from jsonb_to_recordset(p_rows) as r (query_id uuid, chunk_id uuid)
        left join desk_queries q on q.id = r.query_id and q.removed_at is null
        left join client_memory_chunks c on c.id = r.chunk_id and c.dialog_key = q.dialog_key
    )
    select coalesce(jsonb_agg(chunk_id) filter (where held is null), '[]'),
           array_agg(distinct query_set) filter (where query_set is not null)
    into absent, sets from r;
    if absent <> '[]' then
        return json_build_object('outcome', 'missing', 'missing', absent);
    end if;
    with written as (
        insert into desk_judgements (query_id, dialog_key, chunk_id, content_hash, parts_hash, source, source_id, grade, why,
                                     label_source, judge, actor)
        select r.query_id, c.dialog_key, c.id, c.content_hash, desk_parts_hash(c.source, c.source_id, c.text), c.source,
               c.source_id, r.grade, nullif(r.why, ''), coalesce(r.label_source, 'person'),
               coalesce(r.judge, p_event -> 'actor' ->> 'principal_id', 'unknown'), coalesce(p_event -> 'actor', '{}')
        from rows from (jsonb_to_recordset(p_rows) as (
            query_id uuid, chunk_id uuid, grade smallint, why text, label_source text, judge text)) with ordinality r
        join client_memory_chunks c on c.id = r.chunk_id
        order by r.ordinality
        returning query_id, dialog_key, grade, label_source
    )
    select jsonb_build_object(
        'count', count(*), 'queries', count(distinct query_id),
        'by_grade', (select jsonb_object_agg(grade, n) from (select grade, count(*) as n from written group by 1) g),
        'by_label', (select jsonb_object_agg(label_source, n) from (select label_source, count(*) as n from written group by 1) l),
        'query_set', case when cardinality(sets) = 1 then sets[1] end,
        'query_id', case when count(distinct query_id) = 1 then min(query_id::text) end,
        'dialog_key', case when count(distinct dialog_key) = 1 then min(dialog_key) end), count(*)
    into facts, given from written;
    perform desk_touch_query_set(s) from unnest(sets) s;
    perform desk_append_event(p_event, facts);
    return json_build_object('outcome', 'done', 'given', given);
end
$$;
comment on function desk_judge(jsonb, jsonb) is
    'Adds grades [{query_id, chunk_id, grade, why, label_source, judge}]; all of them, or none where a chunk is not stored.';

create or replace function desk_judgement_history(p_query_id uuid, p_parts_hash text) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(json_build_object(
        'id', j.id, 'grade', j.grade, 'why', j.why, 'label_source', j.label_source, 'judge', j.judge,
        'created_at', j.created_at) order by j.n desc), '[]')
    from desk_judgements j where j.query_id = p_query_id and j.parts_hash = p_parts_hash
$$;
comment on function desk_judgement_history(uuid, text) is 'Every grade that a chunk got for a query, the latest first.';

revoke execute on function desk_touch_query_set, desk_create_query_set, desk_archive_query_set, desk_query_sets_list,
    desk_query_set, desk_add_queries, desk_remove_query, desk_judge, desk_judgement_history from public, anon, authenticated;
grant execute on function desk_touch_query_set, desk_create_query_set, desk_archive_query_set, desk_query_sets_list,
    desk_query_set, desk_add_queries, desk_remove_query, desk_judge, desk_judgement_history to service_role;
