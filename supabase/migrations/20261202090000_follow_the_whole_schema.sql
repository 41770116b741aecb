-- What there is of this product in the schema, so that Health can hold it against what the migrations make. The list of
-- names in desk_health_facts is that of the first migrations; this follows by the prefix of the names.
create or replace function desk_schema_state() returns json
language sql stable set search_path = public, extensions as $$
    with ours as (
        select c.oid, c.relname as name, c.relrowsecurity as protected
        from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
          and (c.relname ~ '^(desk|companion|memory)_'
               or c.relname in ('client_memory_chunks', 'tips_daily_entity_snapshots', 'token_usage_log'))
    ), open as (
        -- A grant alone lets nobody through while row-level security has no policy for them.
        select o.name
        from ours o
        where has_table_privilege('anon', o.oid, 'select, insert, update, delete, truncate')
          and (not o.protected or exists (
              select from pg_policy p
              where p.polrelid = o.oid and p.polpermissive
                and (p.polroles = '{0}' or (select r.oid from pg_roles r where r.rolname = 'anon') = any (p.polroles))))
    )
    select json_build_object(
        'tables', (select coalesce(json_agg(name order by name), '[]') from ours),
        'functions', (select coalesce(json_agg(distinct p.proname), '[]') from pg_proc p
                      where p.pronamespace = 'public'::regnamespace
                        and (p.proname ~ '^(desk|companion)_' or p.proname = 'match_client_memory_chunks')),
        'unprotected', (select coalesce(json_agg(name order by name), '[]') from open))
$$;
comment on function desk_schema_state() is 'Tables and functions of this product as they are, and the tables open to anyone.';

revoke execute on function desk_schema_state from public, anon, authenticated;
grant execute on function desk_schema_state to service_role;

notify pgrst, 'reload schema';
