-- The names of both sides of a dialog. The memory holds no profile of TU; the newest snapshot of it names that side.
create or replace function desk_speaker_names(p_dialog_keys text[]) returns json
language sql stable set search_path = public, extensions as $$
    with ru as (
        select key, value from json_each_text(desk_profile_names(p_dialog_keys))
    ), tu as (
        select distinct on (s.dialog_key) s.dialog_key as key, s.payload ->> 'name' as value
        from tips_daily_entity_snapshots s
        where s.dialog_key = any (p_dialog_keys) and s.entity_type = 'profile' and s.source_role = 'tu'
          and jsonb_typeof(s.payload -> 'name') = 'string'
        order by s.dialog_key, s.sync_date desc, s.updated_at desc, s.id
    )
    select coalesce(json_object_agg(coalesce(ru.key, tu.key), json_build_object('ru', ru.value, 'tu', tu.value)), '{}')
    from ru full join tu using (key)
$$;
comment on function desk_speaker_names(text[]) is
    'The names of RU (newest profile) and TU (newest snapshot of that profile) of each of these dialogs, null where unknown.';

revoke execute on function desk_speaker_names from public, anon, authenticated;
grant execute on function desk_speaker_names to service_role;

notify pgrst, 'reload schema';
