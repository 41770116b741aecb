-- What everything later stands on: Supabase's roles, and pgvector. A Supabase project has both; the embedded server makes
-- them before the migrations run, because the wheel's copy of pgvector is not a trusted extension.
select set_config('search_path', 'public, extensions', true);

do $$
declare
    missing text;
begin
    select string_agg(wanted, ', ' order by wanted) into missing
    from unnest(array['anon', 'authenticated', 'service_role']) wanted
    where not exists (select from pg_roles r where r.rolname = wanted);
    if missing is not null then
        raise exception 'roles are missing: %', missing
            using hint = 'This is not a Supabase database: create the roles, or use the embedded database.';
    end if;

    -- Asked first: `create schema if not exists` wants the right to create even where the schema exists.
    if to_regnamespace('extensions') is null then
        create schema extensions;
        grant usage on schema extensions to anon, authenticated, service_role;
    end if;

    -- A project may hold the extension in another schema; it stays where it is.
    if not exists (select from pg_extension where extname = 'vector') then
        if not exists (select from pg_available_extensions where name = 'vector') then
            raise exception 'pgvector is not available on this server'
                using hint = 'Install the extension "vector", 0.8 or newer.';
        end if;
        create extension if not exists vector with schema extensions;
    end if;
    if (select string_to_array(extversion, '.')::integer[] < array[0, 8] from pg_extension where extname = 'vector') then
        raise exception 'pgvector is older than 0.8' using hint = 'alter extension vector update';
    end if;
end
$$;
