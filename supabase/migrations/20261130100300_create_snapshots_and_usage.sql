-- The other two tables of the service, under the same rule: created closed where missing, otherwise left as they are but
-- for columns that come beside.
select set_config('search_path', 'public, extensions', true);
select set_config('client_min_messages', 'warning', true); -- not a line for each column that is there already
select set_config('lock_timeout', '4s', true);

do $$
begin
    if to_regclass('public.tips_daily_entity_snapshots') is null then
        create table tips_daily_entity_snapshots (
            id uuid primary key default gen_random_uuid(),
            sync_date date not null default current_date,
            dialog_key text not null,
            family text,
            ru_id text,
            tu_id text,
            entity_type text not null,
            source_role text not null default '',
            source_id text not null default '',
            entity_at timestamptz,
            initiator text,
            text text,
            payload jsonb not null default '{}',
            content_hash text not null,
            created_at timestamptz not null default now(),
            updated_at timestamptz not null default now(),
            expires_at timestamptz default (now() + interval '14 days'),
            constraint tips_daily_entity_snapshots_entity_type_check
                check (entity_type in ('daily_sync', 'dialog', 'note', 'photo', 'profile')),
            constraint tips_daily_entity_snapshots_source_role_check check (source_role in ('ru', 'tu', '')),
            constraint tips_daily_entity_snapshots_identity_key
                unique (dialog_key, sync_date, entity_type, source_role, source_id)
        );
        create index tips_daily_entity_snapshots_lookup_idx
            on tips_daily_entity_snapshots (dialog_key, entity_type, source_role, sync_date desc);
        create index tips_daily_entity_snapshots_expires_at_idx on tips_daily_entity_snapshots (expires_at);
        alter table tips_daily_entity_snapshots enable row level security;
        revoke all on tips_daily_entity_snapshots from public, anon, authenticated;
        grant all on tips_daily_entity_snapshots to service_role;
        comment on table tips_daily_entity_snapshots is
            'What upstream delivered each day; kept 14 days, never searched.';
    end if;

    if to_regclass('public.token_usage_log') is null then
        create table token_usage_log (
            id uuid primary key default gen_random_uuid(),
            at timestamptz not null default now(),
            request_id uuid,
            dialog_key text,
            ru_id text,
            tu_id text,
            invite_type text,
            provider text not null,
            model text not null,
            phase text not null,
            prompt_tokens integer,
            completion_tokens integer,
            total_tokens integer,
            cached_tokens integer
        );
        create index token_usage_log_dialog_key_at_idx on token_usage_log (dialog_key, at desc);
        create index token_usage_log_request_id_idx on token_usage_log (request_id);
        alter table token_usage_log enable row level security;
        revoke all on token_usage_log from public, anon, authenticated;
        grant all on token_usage_log to service_role;
        comment on table token_usage_log is
            'Every LLM call. No check on provider, model or phase: a refused row is lost.';
    end if;
end
$$;

alter table tips_daily_entity_snapshots
    add column if not exists family text,
    add column if not exists ru_id text,
    add column if not exists tu_id text,
    add column if not exists entity_at timestamptz,
    add column if not exists initiator text,
    add column if not exists text text,
    add column if not exists created_at timestamptz,
    add column if not exists updated_at timestamptz,
    add column if not exists expires_at timestamptz;
alter table token_usage_log
    add column if not exists invite_type text,
    add column if not exists cached_tokens integer;

-- Defaults for the time columns just added; one that the table had before is kept.
do $$
declare
    bare text;
begin
    for bare in
        select a.attname from pg_attribute a
        where a.attrelid = 'tips_daily_entity_snapshots'::regclass
          and a.attname in ('created_at', 'updated_at', 'expires_at') and not a.atthasdef
    loop
        execute format('alter table tips_daily_entity_snapshots alter column %I set default %s', bare,
                       case bare when 'expires_at' then $d$(now() + interval '14 days')$d$ else 'now()' end);
    end loop;
end
$$;

do $$
begin
    if not exists (
        select from pg_trigger t
        where t.tgrelid = 'tips_daily_entity_snapshots'::regclass and not t.tgisinternal
          and (t.tgtype & 1) = 1 and (t.tgtype & 2) = 2 and (t.tgtype & 16) = 16
    ) then
        create trigger desk_touch before update on tips_daily_entity_snapshots
            for each row execute function desk_touch_updated_at();
    end if;
end
$$;
