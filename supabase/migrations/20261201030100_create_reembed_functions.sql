-- Chunks of another embedding model than the one that searches: cosine between two models means nothing, so they are not
-- searched until they are embedded again.
select set_config('search_path', 'public, extensions', true);

create or replace function desk_other_model_summary(p_model text, p_dialog_key text default null) returns json
language sql stable set search_path = public, extensions as $$
    with other as (
        select coalesce(c.embedding_model, 'none') as model, count(*) as chunks, sum(length(c.text)) as characters,
               count(distinct c.dialog_key) as dialogs, max(c.created_at) as newest,
               count(*) filter (where c.created_at > now() - interval '30 days') as recent
        from client_memory_chunks c
        where c.embedding_model is distinct from p_model and (p_dialog_key is null or c.dialog_key = p_dialog_key)
        group by 1
    )
    select json_build_object(
        'chunks', coalesce(sum(chunks), 0), 'characters', coalesce(sum(characters), 0),
        'models', coalesce(json_agg(other order by chunks desc, model), '[]'))
    from other
$$;
comment on function desk_other_model_summary(text, text) is
    'How many chunks, of which models, how long their texts, how many of them written in the last 30 days.';

create or replace function desk_other_model_chunks(
    p_model text, p_dialog_key text default null, p_after uuid default null, p_limit integer default 256
) returns json
language plpgsql stable set search_path = public, extensions set plan_cache_mode = 'force_custom_plan' as $$
declare
    result json;
begin
    select coalesce(json_agg(page order by id), '[]') into result
    from (select c.id, c.text, c.embedding_model
          from client_memory_chunks c
          where c.embedding_model is distinct from p_model and (p_dialog_key is null or c.dialog_key = p_dialog_key)
            and (p_after is null or c.id > p_after)
          order by c.id
          limit greatest(1, least(coalesce(p_limit, 256), 1000))) page;
    return result;
end
$$;
comment on function desk_other_model_chunks is 'The next chunks, by id, that another model than p_model embedded.';

-- p_rows: [{id, text_hash, embedding}], the hash being SHA-256 of the text that was embedded. A text that changed meanwhile
-- keeps what it has, and a row that somebody else has embedded with the model already is left alone.
create or replace function desk_reembed_chunks(p_rows jsonb, p_model text) returns json
language plpgsql set search_path = public, extensions set statement_timeout = '60s' as $$
declare
    given bigint;
    written bigint;
begin
    if coalesce(p_model, '') = '' or jsonb_typeof(p_rows) is distinct from 'array' then
        raise exception 'p_model and an array p_rows are needed' using errcode = '22023';
    end if;
    with rows_given as (
        select r.id, r.text_hash, r.embedding
        from jsonb_to_recordset(p_rows) r (id uuid, text_hash text, embedding vector)
    ), held as (
        select c.id, g.embedding from client_memory_chunks c join rows_given g on g.id = c.id
        where c.embedding_model is distinct from p_model
          and encode(sha256(convert_to(c.text, 'UTF8')), 'hex') = g.text_hash
        order by c.id for no key update of c
    ), changed as (
        update client_memory_chunks c set embedding = h.embedding, embedding_model = p_model
        from held h where c.id = h.id returning c.id
    )
    select (select count(*) from rows_given), (select count(*) from changed) into given, written;
    return json_build_object('written', written, 'passed_over', given - written);
end
$$;
comment on function desk_reembed_chunks(jsonb, text) is 'New vectors for chunks whose text is still the one that was embedded.';

revoke execute on function desk_other_model_summary, desk_other_model_chunks, desk_reembed_chunks
    from public, anon, authenticated;
grant execute on function desk_other_model_summary, desk_other_model_chunks, desk_reembed_chunks to service_role;

notify pgrst, 'reload schema';
