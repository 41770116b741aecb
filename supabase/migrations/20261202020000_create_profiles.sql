-- Retrieval profiles: versions that are only ever added, and which of them is in force. What is proposed is a row of
-- desk_profiles; a person's yes to one evaluation of it a row of desk_profile_approvals; each time of being in force a row
-- of desk_profile_activations, of which exactly one is open. Nothing here is about a person.
select set_config('search_path', 'public, extensions', true);

create table if not exists desk_profiles (
    version integer primary key check (version > 0),
    name text not null check (name <> '' and length(name) <= 120),
    body jsonb not null check (jsonb_typeof(body) = 'object'),
    note text not null default '' check (length(note) <= 1000),
    query_set text,
    created_at timestamptz not null default now(),
    created_by jsonb not null default '{}'
);
comment on table desk_profiles is 'Retrieval profiles by version; never changed, never deleted.';
comment on column desk_profiles.body is '{weights, unit, fusion, limit, budget_chars, quotas}: core/memory/retrieval.py.';
comment on column desk_profiles.query_set is 'The labelled queries on which it is to be judged; an evaluation on others does not count.';

create table if not exists desk_profile_approvals (
    version integer primary key references desk_profiles,
    evaluation_id uuid not null,
    approved_at timestamptz not null default now(),
    approved_by jsonb not null check (coalesce(approved_by ->> 'principal_id', '') <> ''),
    self_approved boolean not null,
    verdict text,
    note text not null default '' check (length(note) <= 1000)
);
comment on table desk_profile_approvals is 'Who said yes to a profile, on the strength of which evaluation.';

create table if not exists desk_profile_activations (
    id uuid primary key default gen_random_uuid(),
    version integer not null references desk_profiles,
    previous integer references desk_profiles,
    kind text not null check (kind in ('first', 'activated', 'reverted')),
    active_at timestamptz not null default now(),
    ended_at timestamptz check (ended_at >= active_at),
    actor jsonb not null default '{}',
    reason text not null default '' check (length(reason) <= 1000)
);
create unique index if not exists desk_profile_activations_one_open_idx on desk_profile_activations ((true))
    where ended_at is null;
create index if not exists desk_profile_activations_active_at_idx on desk_profile_activations (active_at desc);
comment on table desk_profile_activations is 'When which profile was in force; the open one is, and there is only one.';
comment on column desk_profile_activations.previous is 'Where one click goes back to; null where there is nothing before.';

alter table desk_profiles enable row level security;
alter table desk_profile_approvals enable row level security;
alter table desk_profile_activations enable row level security;
revoke all on desk_profiles, desk_profile_approvals, desk_profile_activations from public, anon, authenticated, service_role;
-- Written by the functions alone: an open door beside them would make their rules a habit.
grant select on desk_profiles, desk_profile_approvals, desk_profile_activations to service_role;

create or replace function desk_keep_profile() returns trigger
language plpgsql set search_path = public, extensions as $$
begin
    raise exception 'a profile is never changed or deleted: propose another version' using errcode = '23514';
end
$$;
comment on function desk_keep_profile() is 'Refuses a change of what was proposed or approved.';
drop trigger if exists desk_profiles_keep on desk_profiles;
create trigger desk_profiles_keep before update or delete on desk_profiles
    for each row execute function desk_keep_profile();
drop trigger if exists desk_profile_approvals_keep on desk_profile_approvals;
create trigger desk_profile_approvals_keep before update or delete on desk_profile_approvals
    for each row execute function desk_keep_profile();

insert into desk_profiles (version, name, body, note, created_by)
values (1, 'seed', '{"weights": {"note": 0.18, "profile": 0.08, "photo": 0.05}, "unit": "raw", "fusion": 0, "limit": 12,
                     "budget_chars": null, "quotas": {}}', 'The weights of the existing service.',
        '{"kind": "system", "principal_id": "system:seed", "display_name": "Seed"}')
on conflict (version) do nothing;
insert into desk_profile_activations (version, kind, actor)
select 1, 'first', '{"kind": "system", "principal_id": "system:seed", "display_name": "Seed"}'
where not exists (select from desk_profile_activations);

revoke execute on function desk_keep_profile from public, anon, authenticated;
grant execute on function desk_keep_profile to service_role;
