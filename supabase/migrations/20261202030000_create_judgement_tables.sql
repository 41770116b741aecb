-- Labelled queries and what people (and, marked as such, models) said of the chunks found for them; evaluations on top.
-- A judgement names its chunk three ways: by id; by content_hash, which survives deletion and a new ingest; by parts_hash,
-- which survives a merge of keys as well. Queries and judgements name a dialog, and go with it when its person is erased.
select set_config('search_path', 'public, extensions', true);

create table if not exists desk_query_sets (
    id uuid primary key,
    name text not null check (name <> ''),
    note text,
    version integer not null default 1,
    actor jsonb not null default '{}',
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    archived_at timestamptz
);
comment on table desk_query_sets is 'Sets of labelled queries. version grows with every change of a query or a judgement in it.';

-- No unique index over dialog_key and query: a merge of two keys would have to drop one of two equal queries, and its
-- judgements with it. desk_add_queries keeps them apart instead.
create table if not exists desk_queries (
    id uuid primary key,
    query_set uuid not null references desk_query_sets on delete cascade,
    dialog_key text not null,
    query text not null check (query <> ''),
    category text,
    note text,
    actor jsonb not null default '{}',
    created_at timestamptz not null default clock_timestamp(),
    removed_at timestamptz
);
create index if not exists desk_queries_query_set_idx on desk_queries (query_set, created_at, id);
create index if not exists desk_queries_dialog_key_idx on desk_queries (dialog_key);
comment on table desk_queries is 'One query over one dialog, to be judged. A removed one keeps its judgements.';

create table if not exists desk_judgements (
    id uuid primary key default gen_random_uuid(),
    n bigint generated always as identity,
    query_id uuid not null references desk_queries on delete cascade,
    dialog_key text not null,
    chunk_id uuid not null,
    content_hash text not null,
    parts_hash text not null,
    source text not null,
    source_id text,
    grade smallint not null check (grade between 0 and 3),
    why text,
    label_source text not null check (label_source in ('person', 'llm')),
    judge text not null,
    actor jsonb not null default '{}',
    created_at timestamptz not null default clock_timestamp()
);
create index if not exists desk_judgements_query_id_idx on desk_judgements (query_id, parts_hash, judge, label_source, n desc);
create index if not exists desk_judgements_dialog_key_idx on desk_judgements (dialog_key);
create index if not exists desk_judgements_chunk_id_idx on desk_judgements (chunk_id);
comment on table desk_judgements is
    'Grades 0 (not relevant) to 3 (exactly this). Rows are only added: a new grade is a new row, and the latest of each judge counts.';
comment on column desk_judgements.parts_hash is 'desk_parts_hash of the chunk: the same chunk under whatever dialog key.';
comment on column desk_judgements.judge is 'Who graded: principal of the actor, or the judge that an imported file names.';

create table if not exists desk_evaluations (
    id uuid primary key,
    query_set uuid not null,
    query_set_version integer not null,
    baseline_version integer,
    profile_version integer,
    result jsonb not null,
    verdict text not null check (verdict in ('ship', 'no evidence', 'worse', 'coverage too low')),
    rule text not null,
    queries integer not null,
    coverage numeric not null,
    created_at timestamptz not null default now(),
    actor jsonb not null default '{}'
);
create index if not exists desk_evaluations_query_set_idx on desk_evaluations (query_set, created_at desc);
create index if not exists desk_evaluations_profile_idx on desk_evaluations (profile_version, created_at desc);
comment on table desk_evaluations is
    'Comparisons of a profile with a baseline on a query set, append-only. A version is null for a profile that is not stored.';
comment on column desk_evaluations.coverage is 'Share of the top k that somebody judged, the lower of the two profiles, 0 to 1.';

alter table desk_query_sets enable row level security;
alter table desk_queries enable row level security;
alter table desk_judgements enable row level security;
alter table desk_evaluations enable row level security;
revoke all on desk_query_sets, desk_queries, desk_judgements, desk_evaluations from public, anon, authenticated, service_role;
grant select, insert, update on desk_query_sets, desk_queries to service_role;
grant select, insert on desk_judgements, desk_evaluations to service_role;
