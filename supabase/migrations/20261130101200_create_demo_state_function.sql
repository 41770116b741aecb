-- What the product remembers of its demo data while it is loaded and afterwards: one row of desk_meta.

create or replace function desk_note_demo(p_state text, p_event jsonb default null) returns json
language plpgsql set search_path = public, extensions as $$
begin
    if p_state not in ('loading', 'loaded') then
        raise exception 'p_state is neither loading nor loaded' using errcode = '22023';
    end if;
    insert into desk_meta (key, value) values ('demo', jsonb_build_object('state', p_state, 'at', now()))
    on conflict (key) do update set value = excluded.value, updated_at = now();
    -- In the same transaction, so that a loaded state always has its event.
    if p_event is not null then
        perform companion_append_events(jsonb_build_array(p_event));
    end if;
    return json_build_object('state', p_state);
end
$$;
comment on function desk_note_demo(text, jsonb) is 'Remembers that the demo data is being loaded or is there, with the event of it.';

revoke execute on function desk_note_demo from public, anon, authenticated;
grant execute on function desk_note_demo to service_role;

notify pgrst, 'reload schema';
