-- The demo's query sets: written with ids that only the demo makes, and gone with the rest of the demo data.
select set_config('search_path', 'public, extensions', true);

-- p_set: {id, name, note, judge, queries: [{id, dialog_key, query, category, grades: {content_hash: 1..3}}]}. The judge has read
-- the dialogs whole: every demo chunk of a dialog without a grade of its own gets 0. A set that is there stays as it is.
create or replace function desk_write_demo_query_set(p_set jsonb) returns json
language plpgsql set search_path = public, extensions set statement_timeout = '60s' as $$
declare
    actor jsonb := jsonb_build_object('kind', 'system', 'principal_id', 'demo');
    judge text := p_set ->> 'judge';
    set_id uuid := (p_set ->> 'id')::uuid;
    queries bigint;
    judgements bigint;
begin
    if desk_is_demo_id(set_id) is not true or exists (
        select from jsonb_array_elements(p_set -> 'queries') q where desk_is_demo_id((q ->> 'id')::uuid) is not true)
    then
        raise exception 'a query set that is not marked as demo data' using errcode = '22023';
    end if;
    insert into desk_query_sets (id, name, note, actor) values (set_id, p_set ->> 'name', p_set ->> 'note', actor)
    on conflict (id) do nothing;
    if not found then
        return json_build_object('queries', 0, 'judgements', 0);
    end if;
    insert into desk_queries (id, query_set, dialog_key, query, category, actor, created_at)
    select (q ->> 'id')::uuid, set_id, q ->> 'dialog_key', q ->> 'query', q ->> 'category', actor,
           now() + place * interval '1 microsecond'
    from jsonb_array_elements(p_set -> 'queries') with ordinality given (q, place)
    where exists (select from client_memory_chunks c where c.dialog_key = q ->> 'dialog_key');
    get diagnostics queries = row_count;
    insert into desk_judgements (query_id, dialog_key, chunk_id, content_hash, parts_hash, source, source_id, grade, label_source,
                                 judge, actor)
    select (q ->> 'id')::uuid, c.dialog_key, c.id, c.content_hash, desk_parts_hash(c.source, c.source_id, c.text), c.source,
           c.source_id, coalesce((q -> 'grades' ->> c.content_hash)::smallint, 0), 'person', judge, actor
    from jsonb_array_elements(p_set -> 'queries') with ordinality given (q, place)
    join client_memory_chunks c on c.dialog_key = q ->> 'dialog_key' and c.metadata ->> 'demo' = 'true'
    order by place, c.id;
    get diagnostics judgements = row_count;
    return json_build_object('queries', queries, 'judgements', judgements);
end
$$;
comment on function desk_write_demo_query_set(jsonb) is 'Writes a query set of the demo with its grades, unless it is there.';

create or replace function desk_remove_demo_queries() returns trigger
language plpgsql security definer set search_path = public, extensions, pg_temp as $$
begin
    if new.key = 'demo' and new.value ->> 'state' = 'removed' then
        delete from desk_evaluations
        where query_set >= 'de30de30-de30-8000-8000-000000000000' and query_set < 'de30de30-de30-9000-8000-000000000000';
        delete from desk_query_sets
        where id >= 'de30de30-de30-8000-8000-000000000000' and id < 'de30de30-de30-9000-8000-000000000000';
    end if;
    return null;
end
$$;
comment on function desk_remove_demo_queries() is
    'Deletes the demo''s query sets, with queries, grades and evaluations, when the demo data is removed.';
drop trigger if exists desk_meta_remove_demo_queries on desk_meta;
create trigger desk_meta_remove_demo_queries after insert or update on desk_meta
    for each row when (new.key = 'demo') execute function desk_remove_demo_queries();

revoke execute on function desk_write_demo_query_set, desk_remove_demo_queries from public, anon, authenticated;
grant execute on function desk_write_demo_query_set to service_role;

notify pgrst, 'reload schema';
