-- What a hosted Supabase project has before the first migration. Run by the superuser, once per database; repeatable.
-- `postgres` owns the project's objects and is no superuser, there as here.

do $$
declare
  wanted record;
begin
  for wanted in
    select * from (values
      ('postgres', 'login createdb createrole bypassrls'),
      ('anon', 'nologin noinherit'),
      ('authenticated', 'nologin noinherit'),
      ('service_role', 'nologin noinherit bypassrls'),
      ('authenticator', 'login noinherit')
    ) as roles (name, options)
  loop
    if not exists (select from pg_roles where rolname = wanted.name) then
      execute format('create role %I %s', wanted.name, wanted.options);
    end if;
  end loop;
end
$$;

grant anon, authenticated, service_role to authenticator;
grant anon, authenticated, service_role to postgres with admin option;

-- the timeouts that the hosted documentation gives; the gateway applies those of the role it takes on
alter role anon set statement_timeout = '3s';
alter role authenticated set statement_timeout = '8s';
alter role authenticator set statement_timeout = '8s';
alter role authenticator set lock_timeout = '8s';
alter role authenticator set search_path = "$user", public, extensions;
alter role postgres set search_path = "$user", public, extensions;
alter role supabase_admin set search_path = "$user", public, extensions;

do $$
begin
  execute format('alter database %I owner to postgres', current_database());
end
$$;

create schema if not exists extensions authorization postgres;
create extension if not exists vector with schema extensions;
create schema if not exists auth authorization supabase_admin;

create or replace function auth.jwt() returns jsonb language sql stable as $$
  select coalesce(nullif(current_setting('request.jwt.claim', true), ''), nullif(current_setting('request.jwt.claims', true), ''))::jsonb
$$;
create or replace function auth.role() returns text language sql stable as $$
  select coalesce(nullif(current_setting('request.jwt.claim.role', true), ''), auth.jwt() ->> 'role')
$$;
create or replace function auth.uid() returns uuid language sql stable as $$
  select coalesce(nullif(current_setting('request.jwt.claim.sub', true), ''), auth.jwt() ->> 'sub')::uuid
$$;

grant usage on schema public, extensions, auth to postgres, anon, authenticated, service_role;
grant create on schema public to postgres;
grant execute on all functions in schema auth to postgres, anon, authenticated, service_role;

-- new objects in `public` start out open to the API roles; a migration revokes what should not be
do $$
declare
  owner text;
begin
  foreach owner in array array['postgres', 'supabase_admin'] loop
    execute format('alter default privileges for role %I in schema public grant all on tables to postgres, anon, authenticated, service_role', owner);
    execute format('alter default privileges for role %I in schema public grant all on functions to postgres, anon, authenticated, service_role', owner);
    execute format('alter default privileges for role %I in schema public grant all on sequences to postgres, anon, authenticated, service_role', owner);
  end loop;
end
$$;
