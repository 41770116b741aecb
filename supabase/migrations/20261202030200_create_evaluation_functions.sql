-- A whole file of labels at once, and the evaluations made on them.
select set_config('search_path', 'public, extensions', true);

-- Everything is looked at before anything is written; what does not fit is named by its line.
create or replace function desk_import_judgements(
    p_query_set uuid, p_name text, p_queries jsonb, p_judgements jsonb, p_event jsonb
) returns json
language plpgsql set search_path = public, extensions set statement_timeout = '60s' as $$
declare
    problems jsonb;
    added bigint;
    given bigint;
    facts jsonb;
    who text := coalesce(p_event -> 'actor' ->> 'principal_id', 'unknown');
begin
    perform pg_advisory_xact_lock(hashtextextended('desk_query_sets', 0));
    drop table if exists pg_temp.import_queries, pg_temp.import_judgements;
    create temporary table import_queries on commit drop as
        select r.*, coalesce(
                   (select q.id from desk_queries q where q.id::text = r.ref and q.query_set = p_query_set and q.removed_at is null),
                   (select q.id from desk_queries q where q.query_set = p_query_set and q.removed_at is null
                      and q.dialog_key = r.dialog_key and q.query = r.query limit 1)) as known
        from jsonb_to_recordset(p_queries) as r (line integer, ref text, id uuid, dialog_key text, query text, category text, note text);
    create temporary table import_judgements on commit drop as
        select r.*, q.query_id, q.dialog_key, c.id as held, c.content_hash as held_hash,
               desk_parts_hash(c.source, c.source_id, c.text) as held_parts, c.source as held_source,
               c.source_id as held_source_id
        from jsonb_to_recordset(p_judgements) as r (line integer, ref text, chunk_id uuid, content_hash text, parts_hash text,
            source text, source_id text, grade smallint, why text, judge text, label_source text, at timestamptz)
        left join lateral (
            select coalesce(i.known, i.id) as query_id, i.dialog_key from import_queries i where i.ref = r.ref
            union all
            select d.id, d.dialog_key from desk_queries d
            where d.query_set = p_query_set and d.id::text = r.ref and d.removed_at is null
            limit 1) q on true
        left join client_memory_chunks c on c.dialog_key = q.dialog_key
          and (c.id = r.chunk_id or (r.content_hash is not null and c.content_hash = r.content_hash));

    select coalesce(jsonb_agg(p order by p -> 'line'), '[]') into problems from (
        select jsonb_build_object('line', line, 'field', 'dialogKey', 'what', 'nothing is stored under this dialog') as p
        from import_queries i where known is null
          and not exists (select from client_memory_chunks c where c.dialog_key = i.dialog_key)
        union all
        select jsonb_build_object('line', line, 'field', 'queryId', 'what', 'neither the file nor the set has this query')
        from import_judgements where query_id is null
        union all
        select jsonb_build_object('line', line, 'field', 'chunkId', 'what', 'the dialog of the query has no such chunk')
        from import_judgements where query_id is not null and held is null
          and (parts_hash is null or content_hash is null or source is null or chunk_id is null)
        limit 20) x;
    if problems <> '[]' then
        return json_build_object('outcome', 'refused', 'problems', problems);
    end if;

    if not exists (select from desk_query_sets where id = p_query_set) then
        insert into desk_query_sets (id, name, actor) values (p_query_set, p_name, coalesce(p_event -> 'actor', '{}'));
    end if;
    insert into desk_queries (id, query_set, dialog_key, query, category, note, actor)
    select i.id, p_query_set, i.dialog_key, i.query, i.category, i.note, coalesce(p_event -> 'actor', '{}')
    from import_queries i where known is null order by i.line;
    get diagnostics added = row_count;

    with fresh as (
        select distinct on (j.query_id, parts, judge_is, label_source) j.*, parts, judge_is
        from import_judgements j,
             lateral (select coalesce(j.held_parts, j.parts_hash) as parts, coalesce(j.judge, who) as judge_is) x
        order by j.query_id, parts, judge_is, label_source, j.line desc
    ), written as (
        insert into desk_judgements (query_id, dialog_key, chunk_id, content_hash, parts_hash, source, source_id, grade, why,
                                     label_source, judge, actor, created_at)
        select f.query_id, f.dialog_key, coalesce(f.held, f.chunk_id), coalesce(f.held_hash, f.content_hash), f.parts,
               coalesce(f.held_source, f.source), coalesce(f.held_source_id, f.source_id), f.grade, f.why, f.label_source,
               f.judge_is, coalesce(p_event -> 'actor', '{}'), coalesce(f.at, clock_timestamp())
        from fresh f
        where not exists (
            select from (select l.grade, l.why from desk_judgements l
                         where l.query_id = f.query_id and l.parts_hash = f.parts and l.judge = f.judge_is
                           and l.label_source = f.label_source
                         order by l.n desc limit 1) l
            where l.grade = f.grade and l.why is not distinct from f.why)
        order by f.line
        returning grade, label_source
    )
    select count(*), jsonb_build_object(
        'by_grade', (select jsonb_object_agg(grade, n) from (select grade, count(*) as n from written group by 1) g),
        'by_label', (select jsonb_object_agg(label_source, n) from (select label_source, count(*) as n from written group by 1) l))
    into given, facts from written;
    if added + given > 0 then
        perform desk_touch_query_set(p_query_set);
    end if;
    perform desk_append_event(p_event, facts || jsonb_build_object('query_set', p_query_set, 'queries', added, 'count', given));
    return json_build_object('outcome', 'done', 'queries', added, 'judgements', given,
        'unchanged', (select count(*) from import_judgements) - given,
        'gone', (select count(*) from import_judgements where held is null));
end
$$;
comment on function desk_import_judgements(uuid, text, jsonb, jsonb, jsonb) is
    'Queries and grades of a file into a set, all or nothing; refused: problems [{line, field, what}]. gone: of chunks no longer stored.';

create or replace function desk_add_evaluation(p_row jsonb, p_event jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    r desk_evaluations := jsonb_populate_record(null::desk_evaluations, p_row);
    made bigint;
begin
    insert into desk_evaluations (id, query_set, query_set_version, baseline_version, profile_version, result, verdict, rule,
                                  queries, coverage, actor)
    values (r.id, r.query_set, r.query_set_version, r.baseline_version, r.profile_version, r.result, r.verdict, r.rule,
            r.queries, r.coverage, coalesce(p_event -> 'actor', '{}'))
    on conflict (id) do nothing;
    get diagnostics made = row_count;
    if made > 0 then
        perform desk_append_event(p_event, '{}');
    end if;
    return json_build_object('id', r.id, 'added', made > 0);
end
$$;
comment on function desk_add_evaluation(jsonb, jsonb) is 'Keeps an evaluation; the same id twice is one.';

create or replace function desk_evaluation(p_id uuid) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce((select to_json(e) from desk_evaluations e where e.id = p_id), 'null')
$$;
comment on function desk_evaluation(uuid) is 'One evaluation, whole; null where there is none.';

create or replace function desk_evaluation_list(
    p_query_set uuid default null, p_profile_version integer default null, p_limit integer default 25, p_offset integer default 0
) returns json
language sql stable set search_path = public, extensions as $$
    with mine as (
        select e.* from desk_evaluations e
        where (p_query_set is null or e.query_set = p_query_set)
          and (p_profile_version is null or e.profile_version = p_profile_version)
    ), page as (
        select e.id, e.query_set, s.name as set_name, e.query_set_version, e.baseline_version, e.profile_version, e.verdict,
               e.rule, e.queries, e.coverage, e.created_at, e.actor, e.result -> 'names' as names,
               e.result -> 'primary' as "primary"
        from mine e left join desk_query_sets s on s.id = e.query_set
        order by e.created_at desc, e.id
        limit greatest(0, least(coalesce(p_limit, 25), 200)) offset greatest(0, coalesce(p_offset, 0))
    )
    select json_build_object('rows', (select coalesce(json_agg(page order by created_at desc, id), '[]') from page),
                             'total', (select count(*) from mine))
$$;
comment on function desk_evaluation_list(uuid, integer, integer, integer) is 'Evaluations without their details, the latest first.';

revoke execute on function desk_import_judgements, desk_add_evaluation, desk_evaluation, desk_evaluation_list
    from public, anon, authenticated;
grant execute on function desk_import_judgements, desk_add_evaluation, desk_evaluation, desk_evaluation_list to service_role;
