-- Photo chunks that hold a URL and no words about what is seen on it.
select set_config('search_path', 'public, extensions', true);

create or replace function desk_photos_without_text(
    p_limit integer default 25, p_after uuid default null, p_dialog_key text default null
) returns json
language sql stable set search_path = public, extensions set statement_timeout = '10s' as $$
    with bare as materialized (
        select c.id, c.dialog_key, c.source_id, c.client_id, c.woman_id, c.favorite_id, c.compose_mode, c.updated_at
        from client_memory_chunks c
        where c.source = 'photo' and starts_with(c.text, 'Main profile photo is available:')
          and (p_dialog_key is null or c.dialog_key = p_dialog_key)
          and not exists (select from client_memory_chunks d
                          where d.dialog_key = c.dialog_key and d.source = 'photo' and d.source_id = c.source_id
                            and not starts_with(d.text, 'Main profile photo is available:'))
    ), page as (
        select b.* from bare b where p_after is null or b.id > p_after
        order by b.id limit greatest(0, least(coalesce(p_limit, 25), 500))
    )
    select json_build_object(
        'rows', (select coalesce(json_agg(page order by page.id), '[]') from page),
        'total', (select count(*) from bare),
        'photos', (select count(*) from client_memory_chunks c
                   where c.source = 'photo' and starts_with(c.text, 'Main profile photo is available:')
                     and (p_dialog_key is null or c.dialog_key = p_dialog_key)))
$$;
comment on function desk_photos_without_text is 'Photos without a summary of what is seen on them, by id; p_after leads on.';

revoke execute on function desk_photos_without_text from public, anon, authenticated;
grant execute on function desk_photos_without_text to service_role;
notify pgrst, 'reload schema';
