-- Who may what: rules by which somebody who signs in has roles, and tokens of the API with theirs. Every decision has its event in
-- the same transaction; events name a rule or a token by its id, never an address and never a secret.
select set_config('search_path', 'public, extensions', true);

create table if not exists desk_role_rules (
    id uuid primary key,
    kind text not null check (kind in ('email', 'claim', 'domain')),
    value text not null check (value <> '' and length(value) <= 254),
    roles text[] not null check (cardinality(roles) > 0
        and roles <@ array['viewer', 'auditor', 'tuner', 'operator', 'admin', 'owner']),
    set_by text not null,
    set_at timestamptz not null,
    dropped_at timestamptz
);
create unique index if not exists desk_role_rules_value_key on desk_role_rules (kind, value) where dropped_at is null;
comment on table desk_role_rules is 'Roles of whoever an address, a domain or a claim is true of. The settings may hold more rules.';
comment on column desk_role_rules.dropped_at is 'Holds no more; the row stays, so that an event that names it can still be read.';

create table if not exists desk_api_tokens (
    id text primary key check (id ~ '^[a-z0-9]{8,32}$'),
    hash text not null unique check (hash ~ '^[0-9a-f]{64}$'),
    name text not null check (name <> '' and length(name) <= 80),
    roles text[] not null check (cardinality(roles) > 0
        and roles <@ array['viewer', 'auditor', 'tuner', 'operator', 'admin', 'owner']),
    reveal_reason text check (length(reveal_reason) between 3 and 200),
    created_by text not null,
    created_at timestamptz not null,
    expires_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz
);
create index if not exists desk_api_tokens_created_at_idx on desk_api_tokens (created_at desc);
comment on table desk_api_tokens is 'Tokens of the HTTP API and of MCP, as hashes: what is stored here opens nothing.';
comment on column desk_api_tokens.hash is 'SHA-256 of the whole token in hex; its secret has 256 random bits, so nothing slower is needed.';
comment on column desk_api_tokens.reveal_reason is 'Why answers to this token are unmasked; null: they are masked.';
comment on column desk_api_tokens.last_used_at is 'Written at most once a minute.';

alter table desk_role_rules enable row level security;
alter table desk_api_tokens enable row level security;
revoke all on desk_role_rules, desk_api_tokens from public, anon, authenticated;
grant all on desk_role_rules, desk_api_tokens to service_role;

create or replace function desk_role_rule_list() returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(json_build_object(
        'id', id, 'kind', kind, 'value', value, 'roles', roles, 'by', set_by, 'at', set_at) order by kind, value), '[]')
    from desk_role_rules where dropped_at is null
$$;
comment on function desk_role_rule_list() is 'Every rule that holds, by kind and value.';

-- Whether some rule beside this one makes an administrator; p_ignored are rules that the settings overrule. For callers that hold
-- the lock on the table.
create or replace function desk_other_admin_rule(p_id uuid, p_ignored uuid[]) returns boolean
language sql stable set search_path = public, extensions as $$
    select exists (
        select from desk_role_rules
        where dropped_at is null and 'admin' = any (roles) and id <> p_id and not id = any (coalesce(p_ignored, '{}')))
$$;
comment on function desk_other_admin_rule(uuid, uuid[]) is 'Whether a rule beside this one makes an administrator.';

create or replace function desk_set_role_rule(
    p_id uuid, p_kind text, p_value text, p_roles text[], p_by text, p_at timestamptz, p_keep_admin boolean, p_ignored uuid[],
    p_event jsonb
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    before desk_role_rules;
    sorted text[] := (select array_agg(distinct r order by r) from unnest(p_roles) r);
begin
    -- Of two that each take one of the last two administrators the second has to see what the first did.
    lock table desk_role_rules in share row exclusive mode;
    select * into before from desk_role_rules where kind = p_kind and value = p_value and dropped_at is null;
    if p_keep_admin and 'admin' = any (before.roles) and not 'admin' = any (sorted)
        and not desk_other_admin_rule(before.id, p_ignored) then
        return json_build_object('refused', 'last_admin');
    end if;
    if before.id is null then
        insert into desk_role_rules (id, kind, value, roles, set_by, set_at)
        values (p_id, p_kind, p_value, sorted, p_by, p_at);
    elsif before.roles = sorted then
        return json_build_object('id', before.id, 'changed', false);
    else
        update desk_role_rules set roles = sorted, set_by = p_by, set_at = p_at where id = before.id;
    end if;
    perform desk_append_event(
        p_event || jsonb_build_object('record_id', coalesce(before.id, p_id)),
        jsonb_build_object('rule_id', coalesce(before.id, p_id), 'kind', p_kind, 'before', before.roles, 'after', sorted));
    return json_build_object('id', coalesce(before.id, p_id), 'changed', true);
end
$$;
comment on function desk_set_role_rule is
    'Makes or changes the rule of this value, with its event. p_keep_admin: refused where nobody would be an administrator.';

create or replace function desk_drop_role_rule(
    p_id uuid, p_at timestamptz, p_keep_admin boolean, p_ignored uuid[], p_event jsonb
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    before desk_role_rules;
begin
    lock table desk_role_rules in share row exclusive mode;
    select * into before from desk_role_rules where id = p_id and dropped_at is null;
    if before.id is null then
        return json_build_object('dropped', false);
    end if;
    if p_keep_admin and 'admin' = any (before.roles) and not desk_other_admin_rule(p_id, p_ignored) then
        return json_build_object('refused', 'last_admin');
    end if;
    update desk_role_rules set dropped_at = p_at where id = p_id;
    perform desk_append_event(
        p_event || jsonb_build_object('record_id', p_id),
        jsonb_build_object('rule_id', p_id, 'kind', before.kind, 'before', before.roles));
    return json_build_object('dropped', true);
end
$$;
comment on function desk_drop_role_rule is
    'Ends a rule, with its event. p_keep_admin: refused where nobody would be an administrator.';

revoke execute on function desk_role_rule_list, desk_other_admin_rule, desk_set_role_rule, desk_drop_role_rule
    from public, anon, authenticated;
grant execute on function desk_role_rule_list, desk_other_admin_rule, desk_set_role_rule, desk_drop_role_rule to service_role;
