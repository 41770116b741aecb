-- Beside the snapshots that the service writes: who keeps a row longer (pins), which rows are ours (origins), and the hashes
-- of a year (ledger). None of the three refers to the snapshot table by a foreign key: it would take part in its deletes.
select set_config('search_path', 'public, extensions', true);
select set_config('client_min_messages', 'warning', true);
select set_config('lock_timeout', '4s', true);

-- Of one short column, so that no row of the service can be too long for it; its own unique key begins with the dialog.
create index if not exists tips_daily_entity_snapshots_sync_date_idx on tips_daily_entity_snapshots (sync_date);

create table if not exists desk_snapshot_pins (
    snapshot_id uuid primary key,
    dialog_key text not null,
    reason text not null check (reason <> ''),
    actor jsonb not null,
    pinned_at timestamptz not null default now(),
    until timestamptz not null,
    constraint desk_snapshot_pins_until_check check (until > pinned_at and until <= pinned_at + interval '90 days')
);
create index if not exists desk_snapshot_pins_dialog_key_idx on desk_snapshot_pins (dialog_key);
comment on table desk_snapshot_pins is 'Snapshots that clean-up leaves until that moment, why and for whom; an erasure of the person takes both.';

create table if not exists desk_snapshot_origins (
    snapshot_id uuid primary key,
    dialog_key text not null,
    content_hash text not null,
    written_by xid not null,
    written_at timestamptz not null default now()
);
create index if not exists desk_snapshot_origins_dialog_key_idx on desk_snapshot_origins (dialog_key);
comment on table desk_snapshot_origins is 'Snapshots that the dashboard wrote. One of them is still ours while nobody else has written it since.';
comment on column desk_snapshot_origins.written_by is
    'xmin of the row as we left it: any later write, also one of the same content, gives the row another.';

create table if not exists desk_snapshot_ledger (
    dialog_key text,
    entity_type text,
    source_role text,
    source_id text,
    sync_date date,
    content_hash text not null,
    recorded_at timestamptz not null default now(),
    primary key (dialog_key, entity_type, source_role, source_id, sync_date)
) with (vacuum_truncate = off); -- truncation takes an exclusive lock, which a writer would meet
create index if not exists desk_snapshot_ledger_sync_date_idx on desk_snapshot_ledger (sync_date);
comment on table desk_snapshot_ledger is
    'The hash that each entity had on each day, kept a year: when something changed, after the snapshot itself has expired.';

alter table desk_snapshot_pins enable row level security;
alter table desk_snapshot_origins enable row level security;
alter table desk_snapshot_ledger enable row level security;
revoke all on desk_snapshot_pins, desk_snapshot_origins, desk_snapshot_ledger from public, anon, authenticated;
grant all on desk_snapshot_pins, desk_snapshot_origins, desk_snapshot_ledger to service_role;
