-- What reached which prompt: one row a search through this product, one row a chunk that it returned, with the text as it was.
-- A record stands on its own: it does not change when its chunks are deleted, embedded again or moved to another key. All of
-- it names a dialog and goes with it when its person is erased, whatever the retention says.
select set_config('search_path', 'public, extensions', true);

create table if not exists memory_retrievals (
    id uuid primary key,
    at timestamptz not null,
    request_id text,
    scope text not null check (scope in ('dialog', 'all')),
    dialog_key text,
    client_id text,
    query text,
    query_hash text not null,
    query_len integer not null,
    compose_mode text,
    asked_limit integer not null,
    model text not null,
    fallback boolean not null default false,
    weights jsonb not null default '{}',
    weights_version integer,
    profile jsonb,
    embed_ms double precision not null default 0,
    database_ms double precision not null default 0,
    score_ms double precision not null default 0,
    total integer,
    searchable integer,
    other_models jsonb not null default '{}',
    results integer not null,
    top_score double precision,
    tokens integer not null default 0,
    prompt_hash text,
    actor jsonb not null default '{}',
    check ((scope = 'dialog') = (dialog_key is not null))
);
create index if not exists memory_retrievals_at_idx on memory_retrievals (at desc, id);
create index if not exists memory_retrievals_dialog_idx on memory_retrievals (dialog_key, at desc, id);
create index if not exists memory_retrievals_request_idx on memory_retrievals (request_id, at desc) where request_id is not null;
create index if not exists memory_retrievals_empty_idx on memory_retrievals (at desc, id) where results = 0;
comment on table memory_retrievals is 'One search through this product: what was asked, how, and what it cost.';
comment on column memory_retrievals.query is 'Text of a person; null where an erasure took it.';
comment on column memory_retrievals.request_id is 'The caller''s word for its request; several searches may have one.';
comment on column memory_retrievals.weights is 'The boosts that were used; weights_version is null where they came with the request.';
comment on column memory_retrievals.tokens is 'Estimate for the prompt block, characters / 4; 0 for a search over all dialogs.';
comment on column memory_retrievals.prompt_hash is 'SHA-256 of the prompt block, which is made again from the chunks.';

-- The reference is not called retrieval_id: one person among the results of a search over all dialogs would take the rows of
-- the others along when erased.
create table if not exists memory_retrieval_chunks (
    retrieval uuid not null references memory_retrievals on delete cascade,
    rank integer not null,
    chunk_id uuid not null,
    dialog_key text not null,
    source text not null,
    source_id text,
    text text not null,
    note_date text,
    sent_at text,
    direction text,
    cosine double precision not null,
    lexical double precision,
    boost double precision not null,
    score double precision not null,
    tokens integer not null,
    primary key (retrieval, rank)
);
create index if not exists memory_retrieval_chunks_chunk_idx on memory_retrieval_chunks (chunk_id);
create index if not exists memory_retrieval_chunks_dialog_idx on memory_retrieval_chunks (dialog_key, chunk_id);
comment on table memory_retrieval_chunks is 'What a search returned, best first, each text as it was at that moment.';
comment on column memory_retrieval_chunks.lexical is 'The part of the score that words gave, on the cosine''s scale; null without fusion.';
comment on column memory_retrieval_chunks.tokens is 'Estimate for its line of the prompt block.';

create table if not exists memory_wrong_contexts (
    id uuid primary key default gen_random_uuid(),
    retrieval uuid not null,
    request_id text,
    dialog_key text not null,
    chunk_id uuid not null,
    source text not null,
    rank integer not null,
    reason text not null check (reason in ('wrong_dialog', 'stale', 'irrelevant', 'boost')),
    actor jsonb not null default '{}',
    at timestamptz not null default now(),
    withdrawn_at timestamptz,
    withdrawn_by jsonb
);
create index if not exists memory_wrong_contexts_retrieval_idx on memory_wrong_contexts (retrieval);
create index if not exists memory_wrong_contexts_dialog_idx on memory_wrong_contexts (dialog_key, at desc);
create index if not exists memory_wrong_contexts_at_idx on memory_wrong_contexts (at desc, id);
comment on table memory_wrong_contexts is
    'What somebody reported as wrong in a prompt; kept when the record is pruned, never deleted but with its person.';

alter table memory_retrievals enable row level security;
alter table memory_retrieval_chunks enable row level security;
alter table memory_wrong_contexts enable row level security;
revoke all on memory_retrievals, memory_retrieval_chunks, memory_wrong_contexts from public, anon, authenticated;
grant all on memory_retrievals, memory_retrieval_chunks, memory_wrong_contexts to service_role;

-- The query of a search over all dialogs belongs to nobody by itself, but may well name whom it found: once a row of its
-- results is erased, its words go too. A merge deletes and inserts rows in one statement, and takes nothing.
create or replace function desk_forget_query() returns trigger
language plpgsql security definer set search_path = public, extensions, pg_temp as $$
begin
    update memory_retrievals r set query = null, query_hash = '', request_id = null
    where r.scope = 'all' and r.query is not null and r.id in (
        select g.retrieval from gone g
        where not exists (select from memory_retrieval_chunks c where c.retrieval = g.retrieval and c.rank = g.rank));
    return null;
end
$$;
comment on function desk_forget_query() is 'Takes the words of a search over all dialogs when one of its results is erased.';
drop trigger if exists memory_retrieval_chunks_forget on memory_retrieval_chunks;
create trigger memory_retrieval_chunks_forget after delete on memory_retrieval_chunks
    referencing old table as gone for each statement execute function desk_forget_query();

-- Demo records go with the rest of the demo data.
create or replace function desk_remove_demo_retrievals() returns trigger
language plpgsql security definer set search_path = public, extensions, pg_temp as $$
begin
    if new.key = 'demo' and new.value ->> 'state' = 'removed' then
        delete from memory_retrievals
        where id >= 'de30de30-de30-8000-8000-000000000000' and id < 'de30de30-de30-9000-8000-000000000000';
        delete from memory_wrong_contexts
        where retrieval >= 'de30de30-de30-8000-8000-000000000000' and retrieval < 'de30de30-de30-9000-8000-000000000000';
    end if;
    return null;
end
$$;
comment on function desk_remove_demo_retrievals() is 'Deletes the demo''s retrieval records when the demo data is removed.';
drop trigger if exists desk_meta_remove_demo_retrievals on desk_meta;
create trigger desk_meta_remove_demo_retrievals after insert or update on desk_meta
    for each row when (new.key = 'demo') execute function desk_remove_demo_retrievals();

create or replace function desk_record_retrievals(p_records jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    written bigint;
begin
    -- A search does not wait for the disk: what a crash of the server may cost is the record of its last moments.
    perform set_config('synchronous_commit', 'off', true);
    -- A search that began before its person was erased, and comes to be recorded after it, leaves nothing.
    with given as (
        select * from jsonb_to_recordset(p_records) as r (
            id uuid, at timestamptz, request_id text, scope text, dialog_key text, client_id text, query text,
            query_hash text, query_len integer, compose_mode text, asked_limit integer, model text, fallback boolean,
            weights jsonb, weights_version integer, profile jsonb, embed_ms double precision,
            database_ms double precision, score_ms double precision, total integer, searchable integer,
            other_models jsonb, results integer, top_score double precision, tokens integer, prompt_hash text,
            actor jsonb, chunks jsonb)
    ), living as (
        select g.* from given g
        where not exists (
            select from desk_erasures x
            where x.erased_at > g.at and (
                desk_salted(x.salt, g.dialog_key) = any (x.key_hashes)
                or exists (select from jsonb_array_elements(g.chunks) c
                           where desk_salted(x.salt, c ->> 'dialog_key') = any (x.key_hashes))))
    ), heads as (
        insert into memory_retrievals (
            id, at, request_id, scope, dialog_key, client_id, query, query_hash, query_len, compose_mode, asked_limit,
            model, fallback, weights, weights_version, profile, embed_ms, database_ms, score_ms, total, searchable,
            other_models, results, top_score, tokens, prompt_hash, actor)
        select id, at, request_id, scope, dialog_key, client_id, query, query_hash, query_len, compose_mode, asked_limit,
               model, fallback, weights, weights_version, profile, embed_ms, database_ms, score_ms, total, searchable,
               other_models, results, top_score, tokens, prompt_hash, actor
        from living order by id
        on conflict (id) do nothing
        returning id
    ), rows as (
        insert into memory_retrieval_chunks (
            retrieval, rank, chunk_id, dialog_key, source, source_id, text, note_date, sent_at, direction, cosine, lexical,
            boost, score, tokens)
        select l.id, c.rank, c.chunk_id, c.dialog_key, c.source, c.source_id, c.text, c.note_date, c.sent_at, c.direction,
               c.cosine, c.lexical, c.boost, c.score, c.tokens
        from living l join heads h on h.id = l.id cross join lateral jsonb_to_recordset(l.chunks) as c (
            rank integer, chunk_id uuid, dialog_key text, source text, source_id text, text text, note_date text,
            sent_at text, direction text, cosine double precision, lexical double precision, boost double precision,
            score double precision, tokens integer)
    )
    select count(*) into written from heads;
    return json_build_object('written', written);
end
$$;
comment on function desk_record_retrievals(jsonb) is 'Writes records with their chunks; one whose id is there stays as it is.';

create or replace function desk_prune_retrievals(p_batch integer default 1000) returns json
language plpgsql set search_path = public, extensions set statement_timeout = '30s' as $$
declare
    days integer := coalesce((select (value ->> 'days')::integer from desk_meta where key = 'retrievals'), 30);
    n bigint;
begin
    delete from memory_retrievals r using (
        select x.id from memory_retrievals x where x.at < now() - days * interval '1 day'
        order by x.at, x.id limit greatest(1, least(coalesce(p_batch, 1000), 10000))) old
    where r.id = old.id;
    get diagnostics n = row_count;
    return json_build_object('deleted', n, 'days', days);
end
$$;
comment on function desk_prune_retrievals(integer) is 'Deletes one batch of records older than the retention, oldest first.';

create or replace function desk_set_retrieval_retention(p_days integer, p_event jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    before integer := coalesce((select (value ->> 'days')::integer from desk_meta where key = 'retrievals'), 30);
begin
    if p_days is null or p_days not between 1 and 400 then
        raise exception 'p_days must be 1 to 400' using errcode = '22023';
    end if;
    insert into desk_meta (key, value) values ('retrievals', jsonb_build_object('days', p_days))
    on conflict (key) do update set value = excluded.value;
    perform desk_append_event(p_event, jsonb_build_object('days', p_days, 'before_days', before));
    return json_build_object('days', p_days, 'before_days', before);
end
$$;
comment on function desk_set_retrieval_retention(integer, jsonb) is 'Sets for how many days records are kept, with its event.';

revoke execute on function desk_forget_query, desk_remove_demo_retrievals, desk_record_retrievals, desk_prune_retrievals,
    desk_set_retrieval_retention from public, anon, authenticated;
grant execute on function desk_record_retrievals, desk_prune_retrievals, desk_set_retrieval_retention to service_role;
