-- What the Health page asks of the database itself, and the removal of the demo data.
select set_config('search_path', 'public, extensions', true);

create or replace function desk_applied_migrations() returns json
language plpgsql stable security definer set search_path = public, extensions, pg_temp as $$
declare
    result json;
begin
    -- The schema is not exposed to the API, hence the owner's rights; older ones lack the column for the name.
    if to_regclass('supabase_migrations.schema_migrations') is null then
        return '[]';
    end if;
    execute $q$
        select coalesce(json_agg(json_build_object('version', m.version, 'name', to_jsonb(m) ->> 'name')
                                 order by m.version), '[]')
        from supabase_migrations.schema_migrations m
    $q$ into result;
    return result;
end
$$;
comment on function desk_applied_migrations() is 'Version and name of every migration that this database has recorded.';

create or replace function desk_health_facts() returns json
language sql stable set search_path = public, extensions as $$
    with wanted_tables as (
        select name, to_regclass('public.' || name) as oid
        from unnest(array['client_memory_chunks', 'tips_daily_entity_snapshots', 'token_usage_log', 'desk_meta',
                          'desk_dialogs', 'desk_dialog_sources', 'companion_events', 'companion_event_gaps']) name
    ), tables as (
        select w.name, w.oid is not null as exists, coalesce(c.relrowsecurity, false) as rls,
               -- readable: the grant is there, and row-level security is off or a policy lets anon through
               coalesce(w.oid is not null and has_table_privilege('anon', w.oid, 'select') and (
                   not c.relrowsecurity or exists (
                       select from pg_policy p where p.polrelid = w.oid and p.polpermissive and p.polcmd in ('r', '*')
                         and (p.polroles = '{0}' or (select r.oid from pg_roles r where r.rolname = 'anon') = any (p.polroles)))
               ), false) as anon_can_read,
               coalesce(w.oid is not null and has_table_privilege('anon', w.oid, 'insert, update, delete, truncate') and (
                   not c.relrowsecurity or exists (
                       select from pg_policy p where p.polrelid = w.oid and p.polpermissive and p.polcmd <> 'r'
                         and (p.polroles = '{0}' or (select r.oid from pg_roles r where r.rolname = 'anon') = any (p.polroles)))
               ), false) as anon_can_write,
               greatest(c.reltuples, 0)::bigint as rows_estimate
        from wanted_tables w left join pg_class c on c.oid = w.oid
    ), functions as (
        select f.name, count(p.oid) > 0 as exists,
               -- the service may have put its own back since; overloads are not ours either
               count(p.oid) = 1 and coalesce(bool_and(
                   f.name <> 'match_client_memory_chunks' or p.prosrc like '%memory-desk%'), false) as ours
        from unnest(array['match_client_memory_chunks', 'desk_search', 'desk_candidates', 'desk_chunks_by_id',
                          'desk_missing_hashes', 'desk_write_chunks', 'desk_dialog_list', 'desk_text_search',
                          'desk_dialog_status', 'desk_dialog_chunks', 'desk_dialog_timeline', 'desk_match_across',
                          'desk_overview', 'desk_ambiguous_pairs', 'desk_rebuild_rollups', 'desk_check_rollups',
                          'desk_applied_migrations', 'desk_remove_demo', 'companion_append_events',
                          'companion_query_events', 'companion_verify_chain', 'companion_prune_events']) f (name)
        left join pg_proc p on p.proname = f.name and p.pronamespace = 'public'::regnamespace
        group by f.name
    ), indexes as (
        -- Put together from the catalogue: pg_get_indexdef opens the table, and would wait where somebody holds it.
        select c.relname as name, w.name as table,
               format('CREATE %sINDEX %s ON %s USING %s (%s)', case when i.indisunique then 'UNIQUE ' else '' end,
                      c.relname, w.name, m.amname,
                      (select string_agg(coalesce(a.attname, '(expression)')
                                         || case when o.opcdefault then '' else ' ' || o.opcname end, ', ' order by k.place)
                       from unnest(i.indkey::smallint[], i.indclass::oid[]) with ordinality k (column_number, class, place)
                       left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.column_number
                       join pg_opclass o on o.oid = k.class))
               || coalesce(' WITH (' || array_to_string(c.reloptions, ', ') || ')', '')
               || case when i.indpred is null then '' else ' WHERE (condition)' end as def,
               i.indisvalid and i.indisready as valid
        from wanted_tables w
        join pg_index i on i.indrelid = w.oid
        join pg_class c on c.oid = i.indexrelid
        join pg_am m on m.oid = c.relam
        order by 2, 1
    ), missing as (
        select column_name
        from unnest(array['id', 'dialog_key', 'content_hash', 'client_id', 'woman_id', 'favorite_id', 'source', 'source_id',
                          'text', 'direction', 'compose_mode', 'embedding', 'embedding_model', 'language', 'note_date',
                          'sent_at', 'tags', 'metadata', 'created_at', 'updated_at']) column_name
        where not exists (
            select from pg_attribute a where a.attrelid = to_regclass('public.client_memory_chunks')
              and a.attname = column_name and not a.attisdropped)
    )
    select json_build_object(
        'postgres', current_setting('server_version'),
        'pgvector', (select extversion from pg_extension where extname = 'vector'),
        'tables', (select json_agg(tables order by name) from tables),
        'functions', (select json_agg(functions order by name) from functions),
        'indexes', (select coalesce(json_agg(indexes), '[]') from indexes),
        'chunk_columns_missing', (select coalesce(json_agg(column_name), '[]') from missing),
        'unprotected', (select coalesce(json_agg(name order by name), '[]') from tables
                        where anon_can_read or anon_can_write))
$$;
comment on function desk_health_facts() is
    'Versions, tables with their protection, functions and indexes, as they are now.';

create or replace function desk_remove_demo(p_event jsonb) returns json
language plpgsql set search_path = public, extensions set statement_timeout = '60s' as $$
declare
    deleted bigint;
begin
    delete from client_memory_chunks where metadata ->> 'demo' = 'true';
    get diagnostics deleted = row_count;
    insert into desk_meta (key, value)
    values ('demo', jsonb_build_object('state', 'removed', 'at', now(), 'deleted', deleted))
    on conflict (key) do update set value = excluded.value;
    -- The event knows the figure only now; in the same transaction, so that neither is without the other.
    perform companion_append_events(jsonb_build_array(jsonb_set(
        p_event, '{payload}', coalesce(p_event -> 'payload', '{}') || jsonb_build_object('deleted', deleted))));
    return json_build_object('deleted', deleted);
end
$$;
comment on function desk_remove_demo(jsonb) is 'Deletes the demo rows, remembers that, and appends the event.';

revoke execute on function desk_applied_migrations, desk_health_facts, desk_remove_demo from public, anon, authenticated;
grant execute on function desk_applied_migrations, desk_health_facts, desk_remove_demo to service_role;

-- PostgREST keeps what it knows of the schema; where none listens this does nothing.
notify pgrst, 'reload schema';
