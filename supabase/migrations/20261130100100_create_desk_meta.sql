-- Facts that the product keeps about itself: one row each (state of the demo data, faults of the rollup, checkpoints).
select set_config('search_path', 'public, extensions', true);

create table if not exists desk_meta (
    key text collate "C" primary key,
    value jsonb not null default '{}',
    updated_at timestamptz not null default now()
);
alter table desk_meta enable row level security;
revoke all on desk_meta from public, anon, authenticated;
grant all on desk_meta to service_role;
comment on table desk_meta is 'Memory Desk: facts about itself, one row each.';

create or replace function desk_touch_updated_at() returns trigger
language plpgsql set search_path = public, extensions as $$
begin
    -- An explicit updated_at is kept. `*<>` compares the stored bytes: it knows every type, also those without equality.
    if new.updated_at is not distinct from old.updated_at and new *<> old then
        new.updated_at := now();
    end if;
    return new;
end
$$;
comment on function desk_touch_updated_at() is 'Trigger: sets updated_at when an update changes something.';
revoke execute on function desk_touch_updated_at() from public, anon, authenticated;

create or replace trigger desk_touch before update on desk_meta
    for each row execute function desk_touch_updated_at();
