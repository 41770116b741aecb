-- The service's own search function. An older database has it in some other form, perhaps in several: a result type cannot
-- be changed in place, and PostgREST cannot choose between overloads. So all go and ours comes, in one statement: no caller
-- ever finds none. Whoever could call it before still can.
select set_config('search_path', 'public, extensions', true);
select set_config('lock_timeout', '4s', true);

do $do$
declare
    old_one regprocedure;
    callers text[];
    caller text;
begin
    select array_agg(distinct case when a.grantee = 0 then 'public' else quote_ident(r.rolname) end) into callers
    from pg_proc p
    cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
    left join pg_roles r on r.oid = a.grantee
    where p.pronamespace = 'public'::regnamespace and p.proname = 'match_client_memory_chunks'
      and a.privilege_type = 'EXECUTE' and (a.grantee = 0 or r.rolname is not null);

    for old_one in
        select p.oid::regprocedure from pg_proc p
        where p.pronamespace = 'public'::regnamespace and p.proname = 'match_client_memory_chunks'
    loop
        execute format('drop routine %s', old_one);
    end loop;

    execute $create$
        create function match_client_memory_chunks(
            query_embedding vector(768),
            match_dialog_key text,
            match_client_id text default null,
            match_compose_mode text default null,
            match_count integer default 12,
            source_weights jsonb default '{"note": 0.18, "photo": 0.05, "profile": 0.08}'
        )
        returns table (id uuid, source text, text text, weighted_score double precision, note_date date,
                       sent_at timestamptz, direction text)
        language sql stable set search_path = public, extensions as $body$
            -- memory-desk. Materialized: left to itself the planner takes the HNSW index for a large dialog, filters
            -- afterwards and returns 3 rows of 12. Only id and score are carried, the text is fetched for the few.
            with scored as materialized (
                select c.id,
                       1 - coalesce(nullif(c.embedding <=> query_embedding, 'NaN'), 1) -- a zero vector has no direction
                       + coalesce((source_weights ->> c.source)::double precision, 0) as score
                from client_memory_chunks c
                where c.dialog_key = match_dialog_key
                  and (match_client_id is null or c.client_id is null or c.client_id = match_client_id)
                  and (match_compose_mode is null or c.compose_mode in (match_compose_mode, 'both'))
            ), best as (
                select s.id, s.score from scored s
                order by s.score desc, s.id
                limit greatest(1, least(coalesce(match_count, 12), 50))
            )
            select c.id, c.source, c.text, b.score, c.note_date, c.sent_at, c.direction
            from best b join client_memory_chunks c on c.id = b.id
            order by b.score desc, b.id
        $body$
    $create$;
    comment on function match_client_memory_chunks is
        'The chunks of one dialog nearest to a query: cosine plus a boost per source, best first.';

    revoke execute on function match_client_memory_chunks from public, anon, authenticated;
    grant execute on function match_client_memory_chunks to service_role;
    foreach caller in array coalesce(callers, '{}') loop
        execute format('grant execute on function match_client_memory_chunks to %s', caller);
    end loop;
end
$do$;
