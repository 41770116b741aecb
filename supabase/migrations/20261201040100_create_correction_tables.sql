-- What corrections leave behind: tombstones (this chunk is not to come back), the rows they took out for the undo, merges of
-- dialog keys with the way back. All of it names a dialog, and goes with it when its person is erased.
select set_config('search_path', 'public, extensions', true);

create table if not exists desk_tombstones (
    dialog_key text,
    content_hash text,
    parts_hash text not null,
    kind text not null check (kind in ('excluded', 'deleted')),
    reason text not null,
    source text not null,
    actor jsonb not null default '{}',
    at timestamptz not null default now(),
    primary key (dialog_key, content_hash)
);
comment on table desk_tombstones is 'Chunks that our ingest does not write again, by hash. The existing service knows nothing of them.';
comment on column desk_tombstones.parts_hash is
    'SHA-256 of source, source_id and text: finds the chunk again after its dialog got another key, which changes content_hash.';

create table if not exists desk_excluded_chunks (
    id uuid primary key,
    dialog_key text not null,
    content_hash text not null,
    kind text not null check (kind in ('excluded', 'deleted', 'superseded')),
    reason text not null,
    at timestamptz not null default now(),
    keep_until timestamptz,
    chunk jsonb not null
);
create index if not exists desk_excluded_chunks_dialog_key_idx on desk_excluded_chunks (dialog_key, at desc);
create index if not exists desk_excluded_chunks_keep_until_idx on desk_excluded_chunks (keep_until);
comment on table desk_excluded_chunks is 'Chunks taken out of the memory, whole, so that they can be put back.';
comment on column desk_excluded_chunks.keep_until is 'The end of the undo; null for an excluded chunk, which stays until somebody decides.';

create table if not exists desk_merges (
    id uuid primary key default gen_random_uuid(),
    kept_key text not null,
    dropped_key text not null,
    mode text not null check (mode in ('move', 'copy')),
    counts jsonb not null default '{}',
    stamps jsonb not null default '{}',
    actor jsonb not null default '{}',
    merged_at timestamptz not null default now(),
    undo_until timestamptz not null default now() + interval '14 days',
    undone_at timestamptz
);
create index if not exists desk_merges_kept_key_idx on desk_merges (kept_key);
create index if not exists desk_merges_dropped_key_idx on desk_merges (dropped_key);
comment on table desk_merges is 'Which dialog key was merged into which.';

create table if not exists desk_merge_rows (
    merge_id uuid not null references desk_merges on delete cascade,
    n bigint generated always as identity,
    table_name text not null,
    kind text not null check (kind in ('moved', 'copied', 'lost')),
    before jsonb not null,
    after_hash text,
    primary key (merge_id, n)
);
comment on table desk_merge_rows is 'The way back of a merge: former key and hash of what moved, and whole what gave way. Kept 14 days.';

alter table desk_tombstones enable row level security;
alter table desk_excluded_chunks enable row level security;
alter table desk_merges enable row level security;
alter table desk_merge_rows enable row level security;
revoke all on desk_tombstones, desk_excluded_chunks, desk_merges, desk_merge_rows from public, anon, authenticated;
grant all on desk_tombstones, desk_excluded_chunks, desk_merges, desk_merge_rows to service_role;

create or replace function desk_chunk_hash(p_dialog_key text, p_source text, p_source_id text, p_text text) returns text
language sql immutable set search_path = public, extensions as $$
    select encode(sha256(convert_to(
        p_dialog_key || ':' || p_source || ':' || coalesce(p_source_id, '') || ':' || p_text, 'UTF8')), 'hex')
$$;
comment on function desk_chunk_hash(text, text, text, text) is 'content_hash of a chunk.';

create or replace function desk_parts_hash(p_source text, p_source_id text, p_text text) returns text
language sql immutable set search_path = public, extensions as $$
    select encode(sha256(convert_to(
        'chunk:' || p_source || ':' || coalesce(p_source_id, '') || ':' || p_text, 'UTF8')), 'hex')
$$;
comment on function desk_parts_hash(text, text, text) is 'Hash of a chunk whatever dialog it stands in.';

-- Tables by what the catalogue says, so that a table of a later version, or one that somebody added, is not forgotten.
create or replace function desk_key_tables() returns table (oid oid, name text, referenced boolean)
language sql stable set search_path = public, extensions as $$
    select c.oid, c.relname::text, exists (select from pg_constraint f where f.contype = 'f' and f.confrelid = c.oid)
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attname = 'dialog_key' and not a.attisdropped and a.attgenerated = ''
    order by c.relname = 'desk_snapshot_ledger' desc, c.relname = 'desk_tombstones' desc, c.relname
$$;
comment on function desk_key_tables() is
    'Every table with a dialog key; the ledger before the snapshots that write it, tombstones before the chunks they name.';

create or replace function desk_columns(p_table oid) returns text[]
language sql stable set search_path = public, extensions as $$
    select array_agg(a.attname::text order by a.attnum) from pg_attribute a
    where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
$$;
comment on function desk_columns(oid) is 'The columns of a table that can be written.';

create or replace function desk_key_columns(p_table oid) returns text[]
language sql stable set search_path = public, extensions as $$
    select coalesce((
        select array_agg(a.attname::text order by a.attnum)
        from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
        where i.indrelid = p_table and i.indisprimary), '{}')
$$;
comment on function desk_key_columns(oid) is 'The primary key of a table, or nothing.';

create or replace function desk_prune_corrections() returns json
language plpgsql set search_path = public, extensions as $$
declare
    chunks bigint;
    maps bigint;
begin
    delete from desk_excluded_chunks where keep_until < now();
    get diagnostics chunks = row_count;
    delete from desk_merge_rows r using desk_merges m where m.id = r.merge_id and m.undo_until < now();
    get diagnostics maps = row_count;
    return json_build_object('chunks', chunks, 'merge_rows', maps);
end
$$;
comment on function desk_prune_corrections() is 'Forgets what can no longer be undone; tombstones stay.';

-- The payload of an event, with what only the function that acted can know.
create or replace function desk_append_event(p_event jsonb, p_facts jsonb) returns void
language sql set search_path = public, extensions as $$
    select companion_append_events(jsonb_build_array(
        p_event || jsonb_build_object('payload', coalesce(p_event -> 'payload', '{}') || jsonb_strip_nulls(p_facts))))
    where p_event is not null
$$;
comment on function desk_append_event(jsonb, jsonb) is 'Appends an event in the transaction of what it tells.';

revoke execute on function desk_chunk_hash, desk_parts_hash, desk_key_tables, desk_columns, desk_key_columns,
    desk_prune_corrections, desk_append_event from public, anon, authenticated;
grant execute on function desk_chunk_hash, desk_parts_hash, desk_key_tables, desk_columns, desk_key_columns,
    desk_prune_corrections, desk_append_event to service_role;
