-- What Prompt audit asks: lists of records, one record in full, what was never found, what was reported as wrong.
select set_config('search_path', 'public, extensions', true);

create or replace function desk_retrieval_list(
    p_dialog_key text default null, p_request_id text default null, p_chunk_id uuid default null,
    p_outcome text default null, p_since timestamptz default null, p_until timestamptz default null,
    p_limit integer default 25, p_offset integer default 0
) returns json
language plpgsql stable set search_path = public, extensions set statement_timeout = '15s' as $$
declare
    result json;
begin
    with found as materialized (
        select r.id, r.at, r.results, r.fallback from memory_retrievals r
        where (p_dialog_key is null or r.dialog_key = p_dialog_key)
          and (p_request_id is null or r.request_id = p_request_id)
          and (p_chunk_id is null or r.id in (select c.retrieval from memory_retrieval_chunks c where c.chunk_id = p_chunk_id))
          and (p_since is null or r.at >= p_since) and (p_until is null or r.at < p_until)
          and (p_outcome is null
               or (p_outcome = 'empty' and r.results = 0)
               or (p_outcome = 'fallback' and r.fallback)
               or (p_outcome = 'reported' and exists (
                      select from memory_wrong_contexts w where w.retrieval = r.id and w.withdrawn_at is null)))
    ), page as (
        select f.id from found f order by f.at desc, f.id
        limit greatest(0, least(coalesce(p_limit, 25), 500)) offset greatest(0, coalesce(p_offset, 0))
    ), rows as (
        select r.*, d.ru_id, d.tu_id,
               (select count(*) from memory_wrong_contexts w where w.retrieval = r.id and w.withdrawn_at is null) as reports,
               (select c.rank from memory_retrieval_chunks c where c.retrieval = r.id and c.chunk_id = p_chunk_id limit 1) as chunk_rank
        from page p join memory_retrievals r on r.id = p.id left join desk_dialogs d on d.dialog_key = r.dialog_key
    )
    select json_build_object(
        'rows', (select coalesce(json_agg(rows order by rows.at desc, rows.id), '[]') from rows),
        'total', (select count(*) from found))
    into result;
    return result;
end
$$;
comment on function desk_retrieval_list is
    'Records, newest first, every filter before the limit; p_outcome: empty, fallback or reported.';

create or replace function desk_retrieval(p_id uuid) returns json
language sql stable set search_path = public, extensions as $$
    select json_build_object(
        'record', to_jsonb(r) || jsonb_build_object('ru_id', d.ru_id, 'tu_id', d.tu_id),
        'chunks', (select coalesce(json_agg(c order by c.rank), '[]') from memory_retrieval_chunks c where c.retrieval = r.id),
        'reports', (select coalesce(json_agg(w order by w.at, w.id), '[]') from memory_wrong_contexts w where w.retrieval = r.id))
    from memory_retrievals r left join desk_dialogs d on d.dialog_key = r.dialog_key
    where r.id = p_id
$$;
comment on function desk_retrieval(uuid) is 'One record with its chunks and what was reported about them; null where there is none.';

create or replace function desk_request_retrievals(p_request_id text, p_limit integer default 20) returns json
language sql stable set search_path = public, extensions as $$
    with mine as (
        select r.id, r.at from memory_retrievals r where r.request_id = p_request_id
        order by r.at desc, r.id limit greatest(0, least(coalesce(p_limit, 20), 100))
    )
    select json_build_object(
        'rows', (select coalesce(json_agg(desk_retrieval(m.id) order by m.at desc, m.id), '[]') from mine m),
        'total', (select count(*) from memory_retrievals r where r.request_id = p_request_id))
$$;
comment on function desk_request_retrievals(text, integer) is 'The records of one request in full, newest first.';

create or replace function desk_retrieval_totals(p_dialog_key text default null) returns json
language sql stable set search_path = public, extensions set statement_timeout = '15s' as $$
    select json_build_object(
        'records', count(*), 'empty', count(*) filter (where results = 0), 'fallback', count(*) filter (where fallback),
        'requests', count(distinct request_id), 'first_at', min(at), 'last_at', max(at), 'tokens', coalesce(sum(tokens), 0),
        'reported', (select count(*) from memory_wrong_contexts w
                     where w.withdrawn_at is null and (p_dialog_key is null or w.dialog_key = p_dialog_key)),
        'days', coalesce((select (value ->> 'days')::integer from desk_meta where key = 'retrievals'), 30))
    from memory_retrievals r where p_dialog_key is null or r.dialog_key = p_dialog_key
$$;
comment on function desk_retrieval_totals(text) is 'How much is recorded, of one dialog or of all, and for how many days it is kept.';

create or replace function desk_never_retrieved(p_dialog_key text, p_limit integer default 25, p_offset integer default 0)
returns json language sql stable set search_path = public, extensions set statement_timeout = '15s' as $$
    with found as (
        select distinct c.chunk_id from memory_retrieval_chunks c where c.dialog_key = p_dialog_key
    ), never as materialized (
        select m.id, m.source, coalesce(m.sent_at, m.note_date::timestamptz, m.updated_at) as at
        from client_memory_chunks m where m.dialog_key = p_dialog_key and not exists (select from found f where f.chunk_id = m.id)
    ), page as (
        select n.id, n.at from never n order by n.at desc nulls last, n.id
        limit greatest(0, least(coalesce(p_limit, 25), 500)) offset greatest(0, coalesce(p_offset, 0))
    )
    select json_build_object(
        'rows', (select coalesce(json_agg(json_build_object(
                     'id', m.id, 'source', m.source, 'source_id', m.source_id, 'text', m.text, 'note_date', m.note_date,
                     'sent_at', m.sent_at, 'direction', m.direction, 'embedding_model', m.embedding_model,
                     'updated_at', m.updated_at) order by p.at desc nulls last, p.id), '[]')
                 from page p join client_memory_chunks m on m.id = p.id),
        'total', (select count(*) from never),
        'by_source', (select coalesce(json_object_agg(source, n order by source), '{}')
                      from (select source, count(*) as n from never group by 1) s),
        'chunks', (select count(*) from client_memory_chunks m where m.dialog_key = p_dialog_key),
        'records', (select count(*) from memory_retrievals r where r.dialog_key = p_dialog_key),
        'first_at', (select min(r.at) from memory_retrievals r where r.dialog_key = p_dialog_key))
$$;
comment on function desk_never_retrieved(text, integer, integer) is
    'Chunks of a dialog that no recorded search returned, and how many searches that is out of.';

-- What a search of that moment had to ask with, for a request that left no record: the latest messages of both directions and
-- the latest notes. What was written into the memory only later was not known then.
create or replace function desk_query_parts(p_dialog_key text, p_at timestamptz) returns json
language sql stable set search_path = public, extensions as $$
    select json_build_object(
        'messages', (select coalesce(json_agg(m order by m.sent_at, m.created_at, m.id), '[]') from (
            (select id, source_id, text, direction, sent_at, created_at from client_memory_chunks
             where dialog_key = p_dialog_key and source = 'conversation' and direction = 'incoming' and sent_at <= p_at
             order by sent_at desc, id desc limit 10)
            union all
            (select id, source_id, text, direction, sent_at, created_at from client_memory_chunks
             where dialog_key = p_dialog_key and source = 'conversation' and direction = 'outgoing' and sent_at <= p_at
             order by sent_at desc, id desc limit 10)) m),
        -- The pieces of a long note share its id; their number stands in the id that the ingest gave them.
        'notes', (select coalesce(json_agg(n order by n.note_date, n.created_at, n.source_id, n.piece, n.id), '[]') from (
            select id, source_id, text, note_date, created_at,
                   substring(metadata ->> 'originalChunkId' from ':([0-9]{1,4})$')::integer as piece
            from client_memory_chunks
            where dialog_key = p_dialog_key and source = 'note' and coalesce(note_date <= p_at::date, created_at <= p_at)
            order by note_date desc nulls last, created_at desc, source_id, id desc limit 30) n))
$$;
comment on function desk_query_parts(text, timestamptz) is
    'Messages and notes from which the query of a request of that moment is built again.';

-- Where the chunks of a record stand today: p_ids in any order; one that is in none of the three lists is deleted for good.
create or replace function desk_chunk_whereabouts(p_ids uuid[]) returns json
language sql stable set search_path = public, extensions as $$
    select json_build_object(
        'stored', (select coalesce(json_agg(json_build_object(
                       'id', c.id, 'dialog_key', c.dialog_key, 'text', c.text, 'model', c.embedding_model,
                       'created_at', c.created_at, 'updated_at', c.updated_at)), '[]')
                   from client_memory_chunks c where c.id = any (p_ids)),
        'away', (select coalesce(json_agg(json_build_object('id', x.id, 'kind', x.kind, 'reason', x.reason, 'at', x.at)), '[]')
                 from desk_excluded_chunks x where x.id = any (p_ids)
                   and not exists (select from client_memory_chunks c where c.id = x.id)))
$$;
comment on function desk_chunk_whereabouts(uuid[]) is 'Which of these chunks are stored, and which were excluded, deleted or superseded.';

create or replace function desk_report_wrong_context(
    p_retrieval uuid, p_rank integer, p_reason text, p_event jsonb
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    c memory_retrieval_chunks;
    r memory_retrievals;
    this uuid;
begin
    select * into r from memory_retrievals where id = p_retrieval;
    select * into c from memory_retrieval_chunks where retrieval = p_retrieval and rank = p_rank;
    if c.retrieval is null then
        return json_build_object('outcome', 'missing');
    end if;
    perform pg_advisory_xact_lock(hashtextextended('memory_wrong_contexts', 0));
    select w.id into this from memory_wrong_contexts w
    where w.retrieval = p_retrieval and w.chunk_id = c.chunk_id and w.reason = p_reason and w.withdrawn_at is null;
    if this is not null then
        return json_build_object('outcome', 'known', 'id', this);
    end if;
    insert into memory_wrong_contexts (retrieval, request_id, dialog_key, chunk_id, source, rank, reason, actor)
    values (p_retrieval, r.request_id, c.dialog_key, c.chunk_id, c.source, c.rank, p_reason, coalesce(p_event -> 'actor', '{}'))
    returning id into this;
    perform desk_append_event(p_event, jsonb_build_object(
        'report_id', this, 'dialog_key', c.dialog_key, 'query_hash', nullif(r.query_hash, ''), 'reason', p_reason,
        'chunk_ids', jsonb_build_array(c.chunk_id)));
    return json_build_object('outcome', 'done', 'id', this, 'dialog_key', c.dialog_key, 'chunk_id', c.chunk_id);
end
$$;
comment on function desk_report_wrong_context(uuid, integer, text, jsonb) is
    'Reports one chunk of a record as wrong, with its event. outcome: done, known (said already) or missing.';

create or replace function desk_withdraw_wrong_context(p_id uuid, p_event jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    w memory_wrong_contexts;
begin
    update memory_wrong_contexts set withdrawn_at = now(), withdrawn_by = coalesce(p_event -> 'actor', '{}')
    where id = p_id and withdrawn_at is null returning * into w;
    if w.id is null then
        return json_build_object('outcome', case when exists (select from memory_wrong_contexts x where x.id = p_id)
                                                 then 'known' else 'missing' end);
    end if;
    perform desk_append_event(p_event, jsonb_build_object('report_id', w.id, 'dialog_key', w.dialog_key));
    return json_build_object('outcome', 'done', 'dialog_key', w.dialog_key);
end
$$;
comment on function desk_withdraw_wrong_context(uuid, jsonb) is 'Takes a report back; it stays in the list as withdrawn.';

create or replace function desk_wrong_contexts(
    p_dialog_key text default null, p_open boolean default null, p_limit integer default 25, p_offset integer default 0
) returns json
language sql stable set search_path = public, extensions as $$
    with found as (
        select w.* from memory_wrong_contexts w
        where (p_dialog_key is null or w.dialog_key = p_dialog_key)
          and (p_open is null or p_open = (w.withdrawn_at is null))
    ), page as (
        select f.*, exists (select from memory_retrievals r where r.id = f.retrieval) as recorded from found f
        order by f.at desc, f.id
        limit greatest(0, least(coalesce(p_limit, 25), 500)) offset greatest(0, coalesce(p_offset, 0))
    )
    select json_build_object(
        'rows', (select coalesce(json_agg(page order by page.at desc, page.id), '[]') from page),
        'total', (select count(*) from found),
        'by_reason', (select coalesce(json_object_agg(reason, n), '{}')
                      from (select reason, count(*) as n from found where withdrawn_at is null group by 1 order by 1) x))
$$;
comment on function desk_wrong_contexts(text, boolean, integer, integer) is 'Reports of wrong context, newest first.';

revoke execute on function desk_retrieval_list, desk_retrieval, desk_request_retrievals, desk_retrieval_totals,
    desk_never_retrieved, desk_query_parts, desk_chunk_whereabouts, desk_report_wrong_context, desk_withdraw_wrong_context,
    desk_wrong_contexts from public, anon, authenticated;
grant execute on function desk_retrieval_list, desk_retrieval, desk_request_retrievals, desk_retrieval_totals,
    desk_never_retrieved, desk_query_parts, desk_chunk_whereabouts, desk_report_wrong_context, desk_withdraw_wrong_context,
    desk_wrong_contexts to service_role;
notify pgrst, 'reload schema';
