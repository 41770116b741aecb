-- Ingest writes through one function, so that an ingest is one transaction: all of it or nothing.
select set_config('search_path', 'public, extensions', true);

create or replace function desk_missing_hashes(p_dialog_key text, p_hashes text[], p_model text) returns json
language sql stable set search_path = public, extensions as $$
    with asked as (
        select h.hash, min(h.place) as place from unnest(p_hashes) with ordinality h (hash, place) group by 1
    ), found as (
        select a.hash, a.place, c.id is null as absent, c.embedding_model is distinct from p_model as stale
        from asked a
        left join client_memory_chunks c on c.dialog_key = p_dialog_key and c.content_hash = a.hash
    )
    select json_build_object(
        'absent', coalesce(json_agg(hash order by place) filter (where absent), '[]'),
        'stale', coalesce(json_agg(hash order by place) filter (where not absent and stale), '[]'))
    from found
$$;
comment on function desk_missing_hashes(text, text[], text) is
    'Which of these hashes the dialog lacks (absent), and which are there under another model or none (stale).';

-- p_rows: the rows to write, named as the columns; the embedding as '[..]'. p_seen: {source: chunks} of the whole ingest,
-- also of what was there already. p_seen_hashes: its hashes; given these, a chunk that the ingest still delivers is not left
-- looking superseded (34 -> 35 -> 34 again; the first half of a note whose second half changed).
create or replace function desk_write_chunks(
    p_dialog_key text, p_rows jsonb, p_seen jsonb default '{}', p_seen_hashes text[] default null
) returns json
language plpgsql set search_path = public, extensions set statement_timeout = '60s' as $$
declare
    foreign_rows bigint;
    added bigint;
    reembedded bigint;
    revived bigint := 0;
begin
    if coalesce(p_dialog_key, '') = '' then
        raise exception 'p_dialog_key is missing' using errcode = '22023';
    end if;
    select count(*) into foreign_rows from jsonb_array_elements(coalesce(p_rows, '[]')) r
    where r ->> 'dialog_key' <> p_dialog_key;
    if foreign_rows > 0 then
        raise exception '% of the rows belong to another dialog', foreign_rows using errcode = '22023';
    end if;

    with given as (
        select distinct on (r.content_hash) r.*
        from rows from (jsonb_to_recordset(coalesce(p_rows, '[]')) as (
            content_hash text, client_id text, woman_id text, favorite_id text, source text, source_id text, text text,
            direction text, compose_mode text, embedding vector, embedding_model text, language text, note_date date,
            sent_at timestamptz, tags text[], metadata jsonb, created_at timestamptz)) with ordinality r
        order by r.content_hash, r.ordinality
    ), written as (
        insert into client_memory_chunks as c (
            dialog_key, content_hash, client_id, woman_id, favorite_id, source, source_id, text, direction, compose_mode,
            embedding, embedding_model, language, note_date, sent_at, tags, metadata, created_at, updated_at)
        select p_dialog_key, g.content_hash, g.client_id, g.woman_id, coalesce(g.favorite_id, p_dialog_key), g.source,
               g.source_id, g.text, g.direction, coalesce(g.compose_mode, 'both'), g.embedding, g.embedding_model,
               g.language, g.note_date, g.sent_at, coalesce(g.tags, '{}'), coalesce(g.metadata, '{}'),
               coalesce(g.created_at, now()), now()
        from given g
        order by g.content_hash -- two ingests of one dialog lock its rows in the same order
        on conflict (dialog_key, content_hash) do update
            set embedding = excluded.embedding, embedding_model = excluded.embedding_model
            where c.embedding_model is distinct from excluded.embedding_model
        returning c.xmax = 0 as is_new
    )
    select count(*) filter (where is_new), count(*) filter (where not is_new) into added, reembedded from written;

    if p_seen_hashes is not null then
        update client_memory_chunks c set updated_at = now()
        where c.id in (
            select desk_superseded(array(
                select s.id from client_memory_chunks s
                where s.dialog_key = p_dialog_key and s.content_hash = any (p_seen_hashes))));
        get diagnostics revived = row_count;
    end if;

    insert into desk_dialog_sources as s (dialog_key, source, last_ingest_at)
    select p_dialog_key, seen.source, now()
    from jsonb_each_text(coalesce(p_seen, '{}')) seen (source, chunks)
    where seen.chunks::numeric > 0
    order by seen.source
    on conflict (dialog_key, source) do update set last_ingest_at = excluded.last_ingest_at;

    return json_build_object('added', added, 'reembedded', reembedded, 'revived', revived);
end
$$;
comment on function desk_write_chunks is
    'Writes the chunks of one ingest in one transaction and stamps what the ingest saw.';

revoke execute on function desk_missing_hashes, desk_write_chunks from public, anon, authenticated;
grant execute on function desk_missing_hashes, desk_write_chunks to service_role;
