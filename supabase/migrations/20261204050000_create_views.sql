-- Views that people keep of a page, and the time zone somebody reads in. What a view shows of a dialog goes with that dialog: the
-- row names it in dialog_key, as every table does of which an erasure takes rows; words and ids stand in a table of their own,
-- in which an erasure looks for the names of the erased.
select set_config('search_path', 'public, extensions', true);

create table if not exists desk_views (
    id uuid primary key,
    owner text not null check (owner <> '' and length(owner) <= 200),
    owner_name text not null,
    page text not null check (page ~ '^[a-z_]{1,40}$'),
    name text not null check (name <> '' and length(name) <= 80),
    shared boolean not null,
    dialog_key text check (length(dialog_key) <= 512),
    created_at timestamptz not null,
    updated_at timestamptz not null,
    dropped_at timestamptz
);
create unique index if not exists desk_views_name_key on desk_views (owner, page, lower(name)) where dropped_at is null;
create index if not exists desk_views_page_idx on desk_views (page, updated_at desc) where dropped_at is null;
create index if not exists desk_views_dialog_idx on desk_views (dialog_key) where dialog_key is not null;
comment on table desk_views is 'Views that people keep of a page: private, or shared with the team.';
comment on column desk_views.owner is 'The principal that keeps it.';
comment on column desk_views.name is 'As its owner called it, masked before it is stored.';
comment on column desk_views.dialog_key is 'The dialog in hand.';
comment on column desk_views.dropped_at is 'Deleted; the row stays without name and state, so that a link to it can be answered.';

create table if not exists desk_view_states (
    view_id uuid primary key references desk_views on delete cascade,
    state jsonb not null check (jsonb_typeof(state) = 'object' and length(state::text) <= 40960)
);
comment on table desk_view_states is 'What a view shows: codes of the address, ids, and words that somebody typed.';

create table if not exists desk_preferences (
    principal_id text primary key check (principal_id <> '' and length(principal_id) <= 200),
    time_zone text check (length(time_zone) between 1 and 64),
    updated_at timestamptz not null
);
comment on table desk_preferences is 'What somebody chose for themselves; null: as the installation.';

alter table desk_views enable row level security;
alter table desk_view_states enable row level security;
alter table desk_preferences enable row level security;
revoke all on desk_views, desk_view_states, desk_preferences from public, anon, authenticated;
grant all on desk_views, desk_view_states, desk_preferences to service_role;

create or replace function desk_view_list(p_page text, p_principal text) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(json_build_object(
        'id', v.id, 'page', v.page, 'name', v.name, 'shared', v.shared, 'mine', v.owner = p_principal, 'by', v.owner_name,
        'at', v.updated_at) order by v.owner <> p_principal, lower(v.name), v.id), '[]')
    from (select * from desk_views
          where page = p_page and dropped_at is null and (owner = p_principal or shared)
          order by owner <> p_principal, updated_at desc limit 200) v
$$;
comment on function desk_view_list(text, text) is 'Views of a page that somebody sees: their own, then those of the team.';

create or replace function desk_view(p_id uuid, p_page text, p_principal text) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce((
        select json_build_object(
            'id', v.id, 'page', v.page, 'name', v.name, 'shared', v.shared, 'mine', v.owner = p_principal, 'by', v.owner_name,
            'at', v.updated_at, 'dialog_key', v.dialog_key, 'state', s.state, 'dropped', v.dropped_at is not null)
        from desk_views v left join desk_view_states s on s.view_id = v.id
        where v.id = p_id and v.page = p_page and (v.owner = p_principal or v.shared)), '{}')
$$;
comment on function desk_view(uuid, text, text) is 'A view of a page with its state, where this principal may see it; {} else.';

create or replace function desk_save_view(
    p_id uuid, p_owner text, p_owner_name text, p_page text, p_name text, p_shared boolean, p_dialog_key text, p_state jsonb,
    p_at timestamptz, p_limit integer, p_event jsonb
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    before desk_views;
    view uuid;
begin
    perform pg_advisory_xact_lock(hashtextextended('desk_views:' || p_owner, 0));
    select * into before from desk_views
    where owner = p_owner and page = p_page and lower(name) = lower(p_name) and dropped_at is null;
    if before.id is null and (select count(*) from desk_views where owner = p_owner and dropped_at is null) >= p_limit then
        return json_build_object('refused', 'too_many');
    end if;
    view := coalesce(before.id, p_id);
    if before.id is null then
        insert into desk_views (id, owner, owner_name, page, name, shared, dialog_key, created_at, updated_at)
        values (view, p_owner, p_owner_name, p_page, p_name, p_shared, p_dialog_key, p_at, p_at);
    else
        update desk_views set owner_name = p_owner_name, name = p_name, shared = p_shared, dialog_key = p_dialog_key,
            updated_at = p_at
        where id = view;
    end if;
    insert into desk_view_states (view_id, state) values (view, p_state)
    on conflict (view_id) do update set state = excluded.state;
    delete from desk_views where dropped_at < p_at - interval '400 days';
    perform desk_append_event(
        p_event || jsonb_build_object('record_id', view),
        jsonb_build_object('view_id', view, 'page', p_page, 'name', p_name, 'shared', p_shared, 'replaced', before.id is not null));
    return json_build_object('id', view, 'replaced', before.id is not null);
end
$$;
comment on function desk_save_view is 'Keeps a view with its event; one of the same owner, page and name is replaced and keeps its id.';

create or replace function desk_rename_view(
    p_id uuid, p_principal text, p_admin boolean, p_name text, p_at timestamptz, p_event jsonb
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    view desk_views;
begin
    select * into view from desk_views where id = p_id and dropped_at is null and (owner = p_principal or shared) for update;
    if view.id is null then
        return json_build_object('refused', 'missing');
    elsif view.owner <> p_principal and not p_admin then
        return json_build_object('refused', 'not_yours');
    elsif exists (select from desk_views where owner = view.owner and page = view.page and lower(name) = lower(p_name)
                  and dropped_at is null and id <> p_id) then
        return json_build_object('refused', 'name_taken');
    end if;
    update desk_views set name = p_name, updated_at = p_at where id = p_id;
    perform desk_append_event(
        p_event || jsonb_build_object('record_id', p_id),
        jsonb_build_object('view_id', p_id, 'page', view.page, 'name', p_name, 'shared', view.shared, 'replaced', true));
    return json_build_object('id', p_id);
end
$$;
comment on function desk_rename_view is 'Another name for a view, with its event: by its owner, or of a shared one by an administrator.';

create or replace function desk_drop_view(p_id uuid, p_principal text, p_admin boolean, p_at timestamptz, p_event jsonb)
returns json
language plpgsql set search_path = public, extensions as $$
declare
    view desk_views;
begin
    select * into view from desk_views where id = p_id and dropped_at is null and (owner = p_principal or shared) for update;
    if view.id is null then
        return json_build_object('refused', 'missing');
    elsif view.owner <> p_principal and not p_admin then
        return json_build_object('refused', 'not_yours');
    end if;
    delete from desk_view_states where view_id = p_id;
    update desk_views set name = 'deleted', dialog_key = null, dropped_at = p_at where id = p_id;
    perform desk_append_event(
        p_event || jsonb_build_object('record_id', p_id), jsonb_build_object('view_id', p_id, 'page', view.page));
    return json_build_object('id', p_id);
end
$$;
comment on function desk_drop_view is 'Deletes a view, with its event: by its owner, or a shared one by an administrator.';

create or replace function desk_preference(p_principal text) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce((select json_build_object('time_zone', time_zone) from desk_preferences where principal_id = p_principal),
                    '{"time_zone": null}')
$$;
comment on function desk_preference(text) is 'What somebody chose for themselves.';

create or replace function desk_set_preference(p_principal text, p_time_zone text, p_at timestamptz) returns json
language plpgsql set search_path = public, extensions as $$
begin
    insert into desk_preferences (principal_id, time_zone, updated_at) values (p_principal, p_time_zone, p_at)
    on conflict (principal_id) do update set time_zone = excluded.time_zone, updated_at = excluded.updated_at
    where desk_preferences.time_zone is distinct from excluded.time_zone;
    return json_build_object('changed', found);
end
$$;
comment on function desk_set_preference is 'Sets what somebody chose for themselves; whether it was another.';

revoke execute on function desk_view_list, desk_view, desk_save_view, desk_rename_view, desk_drop_view, desk_preference,
    desk_set_preference from public, anon, authenticated;
grant execute on function desk_view_list, desk_view, desk_save_view, desk_rename_view, desk_drop_view, desk_preference,
    desk_set_preference to service_role;

notify pgrst, 'reload schema';
