-- A database as the existing service has it: three tables without the columns that came later, two old search functions,
-- an index with other parameters, everything open to the publishable key, and a few hundred rows of fourteen dialogs.
create table client_memory_chunks (
    id uuid primary key default gen_random_uuid(),
    dialog_key varchar(128) not null,
    content_hash text not null,
    client_id text,
    woman_id text,
    favorite_id text,
    source text not null check (source in ('profile', 'photo', 'note', 'conversation', 'summary')),
    source_id text,
    text text not null,
    direction text,
    compose_mode text default 'both',
    embedding extensions.vector(768) not null,
    note_date date,
    sent_at timestamptz,
    tags text[],
    raw json, -- a type without equality
    size integer generated always as (length(text)) stored,
    created_at timestamptz default now(),
    unique (dialog_key, content_hash)
);
create index memory_embedding_idx on client_memory_chunks
    using hnsw (embedding extensions.vector_cosine_ops) with (m = 8, ef_construction = 32);

create table tips_daily_entity_snapshots (
    id uuid primary key default gen_random_uuid(),
    sync_date date not null default current_date,
    dialog_key text not null,
    entity_type text not null,
    source_role text not null default '',
    source_id text not null,
    payload jsonb,
    content_hash text,
    created_at timestamptz default now(),
    updated_at timestamptz default now(),
    expires_at timestamptz default (now() + interval '21 days'),
    unique (dialog_key, sync_date, entity_type, source_role, source_id)
);

create table token_usage_log (
    id uuid primary key default gen_random_uuid(),
    at timestamptz default now(),
    request_id uuid,
    dialog_key text,
    ru_id text,
    tu_id text,
    provider text,
    model text,
    phase text,
    prompt_tokens integer,
    completion_tokens integer,
    total_tokens integer
);

create function match_client_memory_chunks(p_dialog_key text, p_embedding extensions.vector, p_limit integer)
returns table (chunk_id uuid, chunk_text text, similarity real) language sql stable as $$
    select id, text, (1 - (embedding operator(extensions.<=>) p_embedding))::real
    from client_memory_chunks where dialog_key = p_dialog_key limit p_limit
$$;
create function match_client_memory_chunks(query_embedding extensions.vector, match_dialog_key text)
returns setof client_memory_chunks language sql stable as $$
    select * from client_memory_chunks where dialog_key = match_dialog_key
$$;
-- authenticated lost its right to call it, anon kept it
revoke execute on function match_client_memory_chunks(text, extensions.vector, integer) from public, authenticated;
revoke execute on function match_client_memory_chunks(extensions.vector, text) from public, authenticated;

create schema supabase_migrations;
create table supabase_migrations.schema_migrations (version text primary key, name text);
insert into supabase_migrations.schema_migrations values
    ('20260519', 'gemini_memory_embeddings'), ('20260520', 'client_memory_photo_source');

with pairs as (
    select n, 'ru-' || n as ru, 'tu-' || n % 5 as tu, n % 7 = 0 as swapped from generate_series(1, 14) n
), rows as (
    select case when swapped then 'dialog:' || tu || ':' || ru else 'dialog:' || ru || ':' || tu end as pair, ru, tu, i,
           (array['conversation', 'conversation', 'note', 'profile', 'photo'])[1 + i % 5] as source
    from pairs, generate_series(1, 25) i
), named as (
    select encode(sha256(convert_to(pair, 'UTF8')), 'hex') as key, ru, tu, i, source, source || ':' || i as source_id,
           source || ' line ' || i || ' of ' || ru as text
    from rows
)
insert into client_memory_chunks (dialog_key, content_hash, client_id, woman_id, favorite_id, source, source_id, text,
                                  direction, embedding, note_date, sent_at, tags, raw, created_at)
select key, encode(sha256(convert_to(key || ':' || source || ':' || source_id || ':' || text, 'UTF8')), 'hex'), ru, tu,
       'fav-' || ru, source, source_id, text, case when source = 'conversation' then 'incoming' end,
       (select array_agg(sin(i * g + length(text))) from generate_series(1, 768) g)::real[]::extensions.vector,
       case when source = 'note' then date '2026-05-01' + i end,
       case when source = 'conversation' then timestamptz '2026-05-01 10:00Z' + i * interval '1 hour' end,
       array[source], '{"a": 1}', timestamptz '2026-05-20 08:00Z'
from named;

insert into tips_daily_entity_snapshots (dialog_key, entity_type, source_id, payload, content_hash)
select 'k' || n, 'note', n::text, jsonb_build_object('n', n), md5(n::text) from generate_series(1, 120) n;
insert into token_usage_log (dialog_key, provider, model, phase, prompt_tokens, total_tokens)
select 'k' || n, 'gemini', 'gemini-2.5-flash', 'evaluate', n, n from generate_series(1, 150) n;
