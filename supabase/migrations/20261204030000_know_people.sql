-- Whom the texts of a dialog may name: what masking looks for. And a secret of this database, from which a person whose
-- id is not shown gets a name.
create or replace function desk_known_people(p_dialog_keys text[]) returns json
language sql stable set search_path = public, extensions as $$
    with asked as (
        select a.key, d.ru_id, d.tu_id
        from unnest(p_dialog_keys) as a (key) left join desk_dialogs d on d.dialog_key = a.key
    ), keys as ( -- a pair may be stored under the key of either order
        select key, key as dialog_key from asked
        union
        select a.key, d.dialog_key from asked a join desk_dialogs d on d.ru_id = a.ru_id and d.tu_id = a.tu_id
    ), snapshots as materialized (
        select k.key, s.ru_id, s.tu_id, s.entity_type, s.payload
        from keys k join tips_daily_entity_snapshots s using (dialog_key)
        where s.entity_type in ('profile', 'dialog')
    ), names as (
        select k.key, substr(c.text, 7) as name
        from keys k join client_memory_chunks c using (dialog_key)
        where c.source = 'profile' and c.text like 'Name: %'
        union
        select s.key, field.value
        from snapshots s, lateral jsonb_each_text(case when jsonb_typeof(s.payload) = 'object' then s.payload else '{}' end) field
        where s.entity_type = 'profile'
          and lower(field.key) in ('name', 'firstname', 'first_name', 'lastname', 'last_name', 'surname', 'nickname',
                                   'fullname', 'full_name', 'username', 'login')
    ), ids as (
        select key, unnest(array[ru_id, tu_id]) as id from asked
        union
        select key, unnest(array[ru_id, tu_id]) from snapshots
    )
    select coalesce(json_object_agg(a.key, json_build_object(
        'names', (select coalesce(json_agg(left(n.name, 200)), '[]') from names n where n.key = a.key and n.name <> ''),
        'ids', (select coalesce(json_agg(i.id), '[]') from ids i where i.key = a.key and i.id <> ''))), '{}')
    from (select distinct key from asked) a
$$;
comment on function desk_known_people(text[]) is
    'Names and ids of both sides of each of these dialogs, under both orders of the pair: profiles in memory and snapshots.';

create or replace function desk_alias_secret() returns json
language plpgsql volatile set search_path = public, extensions as $$
begin
    insert into desk_meta (key, value)
    values ('alias_secret', to_jsonb(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')))
    on conflict (key) do nothing;
    return (select json_build_object('secret', value) from desk_meta where key = 'alias_secret');
end
$$;
comment on function desk_alias_secret() is 'A random secret of this database, made at the first call: names for people whose ids are not shown.';

revoke execute on function desk_known_people(text[]), desk_alias_secret() from public, anon, authenticated;
grant execute on function desk_known_people(text[]), desk_alias_secret() to service_role;

notify pgrst, 'reload schema';
