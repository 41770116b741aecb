-- The vector memory. On an empty database: the table as the specification has it, closed to all but the service role. On a
-- database that has the table: nothing is taken away or switched on; missing columns come beside, and an index is built
-- only where that takes a moment, because building one blocks the writes of the service that lives there.
select set_config('search_path', 'public, extensions', true);
select set_config('client_min_messages', 'warning', true); -- not a line for each column that is there already
select set_config('lock_timeout', '4s', true); -- rather fail and be run again than queue before everybody else

do $$
begin
    if to_regclass('public.client_memory_chunks') is not null then
        return;
    end if;
    create table client_memory_chunks (
        id uuid primary key default gen_random_uuid(),
        dialog_key text not null,
        content_hash text not null,
        client_id text,
        woman_id text,
        favorite_id text not null default '',
        source text not null,
        source_id text,
        text text not null,
        direction text,
        compose_mode text not null default 'both',
        embedding vector(768) not null,
        embedding_model text,
        language text,
        note_date date,
        sent_at timestamptz,
        tags text[] not null default '{}',
        metadata jsonb not null default '{}',
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        constraint client_memory_chunks_source_check
            check (source in ('profile', 'photo', 'note', 'conversation', 'summary')),
        constraint client_memory_chunks_direction_check check (direction in ('incoming', 'outgoing')),
        constraint client_memory_chunks_compose_mode_check check (compose_mode in ('reply', 'both')),
        constraint client_memory_chunks_dialog_key_content_hash_key unique (dialog_key, content_hash)
    );
    -- The vector stays in the row: half the time of a scan was fetching it from TOAST. A row is then always over the usual
    -- 2 KB, and without a higher target every other column would be moved out of line instead.
    alter table client_memory_chunks alter column embedding set storage plain;
    alter table client_memory_chunks set (toast_tuple_target = 8160);
    alter table client_memory_chunks enable row level security;
    revoke all on client_memory_chunks from public, anon, authenticated;
    grant all on client_memory_chunks to service_role;
    comment on table client_memory_chunks is 'Dialog memory: one chunk of text with its embedding per row.';
    comment on column client_memory_chunks.client_id is 'RU: the client.';
    comment on column client_memory_chunks.woman_id is 'TU: the profile. A legacy name.';
end
$$;

-- Columns that an older table lacks. Nullable, or with a constant default: neither rewrites the table. The time columns get
-- their default afterwards, so that rows from before do not claim to be from today.
alter table client_memory_chunks
    add column if not exists client_id text,
    add column if not exists woman_id text,
    add column if not exists favorite_id text default '',
    add column if not exists source_id text,
    add column if not exists direction text,
    add column if not exists compose_mode text not null default 'both',
    add column if not exists embedding_model text,
    add column if not exists language text,
    add column if not exists note_date date,
    add column if not exists sent_at timestamptz,
    add column if not exists tags text[] not null default '{}',
    add column if not exists metadata jsonb not null default '{}',
    add column if not exists created_at timestamptz,
    add column if not exists updated_at timestamptz;
do $$
declare
    bare text;
begin
    for bare in
        select a.attname from pg_attribute a
        where a.attrelid = 'client_memory_chunks'::regclass and a.attname in ('created_at', 'updated_at')
          and not a.atthasdef
    loop
        execute format('alter table client_memory_chunks alter column %I set default now()', bare);
    end loop;
end
$$;

do $$
declare
    small boolean := (select count(*) <= 2000 from (select from client_memory_chunks limit 2001) few);
    has_key boolean := exists (
        select from pg_index i
        where i.indrelid = 'client_memory_chunks'::regclass and i.indisunique and i.indpred is null
          and (select array_agg(a.attname::text order by a.attname)
               from pg_attribute a where a.attrelid = i.indrelid and a.attnum = any (i.indkey))
              = array['content_hash', 'dialog_key']);
    has_ann boolean := exists (
        select from pg_index i join pg_opclass o on o.oid = any (i.indclass)
        where i.indrelid = 'client_memory_chunks'::regclass and o.opcname like '%\_cosine\_ops');
begin
    if not has_key and small then
        begin
            create unique index client_memory_chunks_dialog_key_content_hash_key
                on client_memory_chunks (dialog_key, content_hash);
        exception when unique_violation then
            raise warning 'client_memory_chunks holds equal rows: no unique index, ingest will be refused';
        end;
    end if;
    if small then
        create index if not exists client_memory_chunks_source_idx
            on client_memory_chunks (dialog_key, source, source_id);
        create index if not exists client_memory_chunks_model_idx on client_memory_chunks (embedding_model, source);
        create index if not exists client_memory_chunks_demo_idx on client_memory_chunks (dialog_key)
            where metadata ->> 'demo' = 'true';
        if not has_ann then
            create index client_memory_chunks_embedding_idx on client_memory_chunks
                using hnsw (embedding vector_cosine_ops) with (m = 16, ef_construction = 64);
        end if;
    else
        raise warning 'client_memory_chunks is in use: missing indexes are listed by desk_health_facts, none was built';
    end if;
end
$$;

create or replace function desk_touch_chunk() returns trigger
language plpgsql set search_path = public, extensions as $$
begin
    -- Embedding a text again with another model says nothing new about the dialog: status and the superseded rule read
    -- updated_at as the age of the text, so it stays.
    if new.updated_at is not distinct from old.updated_at and new *<> old
       and (new.text is distinct from old.text or new.embedding_model is not distinct from old.embedding_model) then
        new.updated_at := now();
    end if;
    return new;
end
$$;
comment on function desk_touch_chunk() is 'Trigger: sets updated_at when an update changes more than the embedding.';
revoke execute on function desk_touch_chunk() from public, anon, authenticated;

-- A table that already has such a trigger of its own keeps it.
do $$
begin
    if not exists (
        select from pg_trigger t
        where t.tgrelid = 'client_memory_chunks'::regclass and not t.tgisinternal
          and (t.tgtype & 1) = 1 and (t.tgtype & 2) = 2 and (t.tgtype & 16) = 16
    ) then
        create trigger desk_touch before update on client_memory_chunks
            for each row execute function desk_touch_chunk();
    end if;
end
$$;
