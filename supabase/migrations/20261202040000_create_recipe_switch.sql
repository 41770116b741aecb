-- The embedding recipe: what of a chunk is given to the model. While a switch embeds the messages anew, their new vectors wait
-- beside the table, and searches go on under the old name; then one transaction puts them in place and makes the new name
-- the active one. Only messages with a direction differ between the recipes: every other row keeps its vector and changes
-- its name.
select set_config('search_path', 'public, extensions', true);

create table if not exists memory_recipe_vectors (
    chunk_id uuid primary key,
    dialog_key text not null,
    model text not null,
    text_hash text not null,
    embedding vector(768),
    created_at timestamptz not null default now()
);
-- No foreign key: it would make the existing service's truncate fail. What lost its chunk goes with the next switch or chore.
create index if not exists memory_recipe_vectors_dialog_idx on memory_recipe_vectors (dialog_key);
alter table memory_recipe_vectors enable row level security;
revoke all on memory_recipe_vectors from public, anon, authenticated;
grant all on memory_recipe_vectors to service_role;
comment on table memory_recipe_vectors is
    'Vectors of another recipe, waiting for the switch to it. embedding null: the text is blank and keeps its vector.';

create or replace function desk_text_hash(p_text text) returns text
language sql immutable set search_path = public, extensions as $$
    select encode(sha256(convert_to(p_text, 'UTF8')), 'hex')
$$;
comment on function desk_text_hash(text) is 'SHA-256 of a text, in hex.';

create or replace function desk_profile_names(p_dialog_keys text[]) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_object_agg(dialog_key, name), '{}')
    from (select distinct on (c.dialog_key) c.dialog_key, substr(c.text, 7) as name
          from client_memory_chunks c
          where c.dialog_key = any (p_dialog_keys) and c.source = 'profile' and c.text like 'Name: %'
          order by c.dialog_key, c.updated_at desc nulls last, c.created_at desc nulls last, c.id) named
$$;
comment on function desk_profile_names(text[]) is 'The name in the newest profile of each of these dialogs, where there is one.';

-- Another writer: a chunk created in the last 30 days under one of these model names, no demo data, and either no ingest of
-- ours is on record for its dialog and source, or the chunk is newer than the last one. Ours stamps the dialog and source
-- in the transaction that writes the chunk, so its own chunks are never newer.
create or replace function desk_other_writer(p_models text[]) returns json
language sql stable set search_path = public, extensions as $$
    select json_build_object('chunks', count(*), 'dialogs', count(distinct c.dialog_key), 'newest', max(c.created_at))
    from client_memory_chunks c
    left join desk_dialog_sources s on s.dialog_key = c.dialog_key and s.source = c.source
    where c.embedding_model = any (p_models) and c.created_at > now() - interval '30 days'
      and coalesce(c.metadata ->> 'demo', '') <> 'true'
      and (s.last_ingest_at is null or c.created_at > s.last_ingest_at)
$$;
comment on function desk_other_writer(text[]) is
    'Chunks of these models written in the last 30 days that no ingest of ours accounts for.';

create or replace function desk_recipe_summary(p_from text, p_to text) returns json
language sql stable set search_path = public, extensions as $$
    select json_build_object(
        'chunks', count(*),
        'messages', count(*) filter (where spoken),
        'characters', coalesce(sum(characters) filter (where spoken and not waiting), 0),
        'waiting', count(*) filter (where spoken and waiting),
        'there', (select count(*) from client_memory_chunks t where t.embedding_model = p_to))
    from (select length(c.text) as characters, c.source = 'conversation' and c.direction is not null as spoken,
                 v.chunk_id is not null as waiting
          from client_memory_chunks c
          left join memory_recipe_vectors v
              on v.chunk_id = c.id and v.model = p_to and v.text_hash = desk_text_hash(c.text)
          where c.embedding_model = p_from) held
$$;
comment on function desk_recipe_summary(text, text) is
    'What a switch would embed: messages of p_from, those that wait with a vector of p_to already, and rows of p_to.';

create or replace function desk_recipe_chunks(
    p_from text, p_to text, p_after uuid default null, p_limit integer default 256, p_all boolean default false
) returns json
language plpgsql stable set search_path = public, extensions set plan_cache_mode = 'force_custom_plan' as $$
declare
    result json;
begin
    select coalesce(json_agg(page order by id), '[]') into result
    from (select c.id, c.text, c.source, c.direction, c.dialog_key, c.embedding_model
          from client_memory_chunks c
          where c.embedding_model = p_from and (p_after is null or c.id > p_after)
            and (p_all or (c.source = 'conversation' and c.direction is not null and not exists (
                select from memory_recipe_vectors v
                where v.chunk_id = c.id and v.model = p_to and v.text_hash = desk_text_hash(c.text))))
          order by c.id
          limit greatest(1, least(coalesce(p_limit, 256), 1000))) page;
    return result;
end
$$;
comment on function desk_recipe_chunks is
    'The next chunks of p_from, by id: messages without a waiting vector of p_to, or with p_all every one.';

-- p_rows: [{id, text_hash, embedding}], as desk_reembed_chunks takes them; embedding null for a blank text.
create or replace function desk_stage_vectors(p_rows jsonb, p_to text) returns json
language plpgsql set search_path = public, extensions set statement_timeout = '60s' as $$
declare
    given bigint := jsonb_array_length(p_rows);
    staged bigint;
begin
    insert into memory_recipe_vectors as v (chunk_id, dialog_key, model, text_hash, embedding)
    select c.id, c.dialog_key, p_to, r.text_hash, r.embedding
    from jsonb_to_recordset(p_rows) r (id uuid, text_hash text, embedding vector)
    join client_memory_chunks c on c.id = r.id and desk_text_hash(c.text) = r.text_hash
    order by c.id
    on conflict (chunk_id) do update
        set dialog_key = excluded.dialog_key, model = excluded.model, text_hash = excluded.text_hash,
            embedding = excluded.embedding, created_at = now();
    get diagnostics staged = row_count;
    return json_build_object('written', staged, 'passed_over', given - staged);
end
$$;
comment on function desk_stage_vectors(jsonb, text) is 'Keeps new vectors beside the table until the switch.';

-- All or nothing, and only once no message lacks its vector. Called again after a lost answer it says that it is done.
create or replace function desk_switch_recipe(p_recipe text, p_from text, p_to text, p_event jsonb) returns json
language plpgsql set search_path = public, extensions set statement_timeout = '900s' as $$
declare
    missing bigint;
    kept bigint;
    renewed bigint;
    facts jsonb;
begin
    perform pg_advisory_xact_lock(hashtextextended('desk_switch_recipe', 0));
    if (select value ->> 'recipe' = p_recipe and value ->> 'model' = p_to from desk_meta where key = 'embedding_recipe') then
        return json_build_object('switched', false, 'missing', 0, 'already', true);
    end if;
    select count(*) into missing
    from client_memory_chunks c
    where c.embedding_model = p_from and c.source = 'conversation' and c.direction is not null
      and not exists (select from memory_recipe_vectors v
                      where v.chunk_id = c.id and v.model = p_to and v.text_hash = desk_text_hash(c.text));
    if missing > 0 then
        return json_build_object('switched', false, 'missing', missing, 'already', false);
    end if;
    update client_memory_chunks c set embedding = coalesce(v.embedding, c.embedding), embedding_model = p_to
    from memory_recipe_vectors v
    where c.embedding_model = p_from and v.chunk_id = c.id and v.model = p_to
      and v.text_hash = desk_text_hash(c.text) and c.source = 'conversation' and c.direction is not null;
    get diagnostics renewed = row_count;
    update client_memory_chunks c set embedding_model = p_to
    where c.embedding_model = p_from and (c.source <> 'conversation' or c.direction is null);
    get diagnostics kept = row_count;
    delete from memory_recipe_vectors;
    insert into desk_meta (key, value, updated_at)
    values ('embedding_recipe', jsonb_build_object('recipe', p_recipe, 'model', p_to, 'since', now()), now())
    on conflict (key) do update set value = excluded.value, updated_at = excluded.updated_at;
    facts := jsonb_build_object('chunks', kept + renewed, 'embedded', renewed);
    perform desk_append_event(p_event, facts);
    return json_build_object('switched', true, 'missing', 0, 'already', false, 'chunks', kept + renewed, 'embedded', renewed);
end
$$;
comment on function desk_switch_recipe(text, text, text, jsonb) is
    'Puts the waiting vectors in place and makes the recipe the active one, with its event, in one transaction.';

create or replace function desk_prune_recipe_vectors(p_days integer default 7) returns json
language plpgsql set search_path = public, extensions as $$
declare
    gone bigint;
begin
    delete from memory_recipe_vectors v
    where v.created_at < now() - make_interval(days => greatest(1, p_days))
       or not exists (select from client_memory_chunks c where c.id = v.chunk_id);
    get diagnostics gone = row_count;
    return json_build_object('deleted', gone);
end
$$;
comment on function desk_prune_recipe_vectors(integer) is 'Forgets waiting vectors of chunks that are gone, and of a switch given up.';

-- As before, and what the recipe needs to know of a chunk.
create or replace function desk_other_model_chunks(
    p_model text, p_dialog_key text default null, p_after uuid default null, p_limit integer default 256
) returns json
language plpgsql stable set search_path = public, extensions set plan_cache_mode = 'force_custom_plan' as $$
declare
    result json;
begin
    select coalesce(json_agg(page order by id), '[]') into result
    from (select c.id, c.text, c.embedding_model, c.source, c.direction, c.dialog_key
          from client_memory_chunks c
          where c.embedding_model is distinct from p_model and (p_dialog_key is null or c.dialog_key = p_dialog_key)
            and (p_after is null or c.id > p_after)
          order by c.id
          limit greatest(1, least(coalesce(p_limit, 256), 1000))) page;
    return result;
end
$$;

revoke execute on function desk_text_hash, desk_profile_names, desk_other_writer, desk_recipe_summary, desk_recipe_chunks,
    desk_stage_vectors, desk_switch_recipe, desk_prune_recipe_vectors from public, anon, authenticated;
grant execute on function desk_text_hash, desk_profile_names, desk_other_writer, desk_recipe_summary, desk_recipe_chunks,
    desk_stage_vectors, desk_switch_recipe, desk_prune_recipe_vectors to service_role;

notify pgrst, 'reload schema';
