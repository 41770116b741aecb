-- The demo data beyond chunks: snapshots, usage, prices. A demo row is told by two marks together, so that no row of anybody
-- else is ever taken for one: an id within a range of version-8 UUIDs that only the demo makes, and the word that a person
-- sees (family, invite_type). A row that the service has written over since keeps the id and loses the word: it is theirs.
select set_config('search_path', 'public, extensions', true);

create or replace function desk_is_demo_id(p_id uuid) returns boolean
language sql immutable set search_path = public, extensions as $$
    select p_id >= 'de30de30-de30-8000-8000-000000000000'::uuid and p_id < 'de30de30-de30-9000-8000-000000000000'::uuid
$$;
comment on function desk_is_demo_id(uuid) is 'Whether only the demo data makes such an id: core/services/demo_marks.py.';

create or replace function desk_write_demo_snapshots(p_rows jsonb) returns json
language plpgsql set search_path = public, extensions set statement_timeout = '60s' as $$
declare
    given bigint := jsonb_array_length(p_rows);
    written bigint;
begin
    if exists (select from jsonb_to_recordset(p_rows) as r (id uuid, family text)
               where desk_is_demo_id(r.id) is not true or r.family is distinct from 'demo') then
        raise exception 'a row that is not marked as demo data' using errcode = '22023';
    end if;
    insert into tips_daily_entity_snapshots (
        id, sync_date, dialog_key, family, ru_id, tu_id, entity_type, source_role, source_id, entity_at, initiator, text,
        payload, content_hash, created_at, updated_at, expires_at)
    select id, sync_date, dialog_key, family, ru_id, tu_id, entity_type, source_role, source_id, entity_at, initiator, text,
           payload, content_hash, created_at, created_at, expires_at
    from jsonb_to_recordset(p_rows) as r (
        id uuid, sync_date date, dialog_key text, family text, ru_id text, tu_id text, entity_type text, source_role text,
        source_id text, entity_at timestamptz, initiator text, text text, payload jsonb, content_hash text,
        created_at timestamptz, expires_at timestamptz)
    order by id
    on conflict do nothing;
    get diagnostics written = row_count;
    return json_build_object('written', written, 'present', given - written);
end
$$;
comment on function desk_write_demo_snapshots(jsonb) is 'Writes demo snapshots; whatever stands there already is left as it is.';

create or replace function desk_write_demo_prices(p_rows jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    added bigint;
begin
    -- Beside a price that somebody entered an invented one has no business.
    insert into desk_prices (provider, model, valid_from, input_usd, output_usd, cached_usd, source, source_date, demo,
                             entered_by)
    select r.provider, r.model, r.valid_from, r.input_usd, r.output_usd, r.cached_usd, r.source, r.source_date, true,
           r.entered_by
    from jsonb_to_recordset(p_rows) as r (
        provider text, model text, valid_from timestamptz, input_usd numeric, output_usd numeric, cached_usd numeric,
        source text, source_date date, entered_by text)
    where not exists (select from desk_prices p where p.provider = r.provider and p.model = r.model);
    get diagnostics added = row_count;
    return json_build_object('added', added);
end
$$;
comment on function desk_write_demo_prices(jsonb) is 'Enters invented prices, marked as such, for models that have none.';

create or replace function desk_demo_rows() returns json
language sql stable set search_path = public, extensions as $$
    select json_build_object(
        'chunks', (select count(*) from client_memory_chunks where metadata ->> 'demo' = 'true'),
        'snapshots', (select count(*) from tips_daily_entity_snapshots
                      where id >= 'de30de30-de30-8000-8000-000000000000' and id < 'de30de30-de30-9000-8000-000000000000'
                        and family = 'demo'),
        'usage', (select count(*) from token_usage_log
                  where id >= 'de30de30-de30-8000-8000-000000000000' and id < 'de30de30-de30-9000-8000-000000000000'
                    and invite_type = 'demo'),
        'prices', (select count(*) from desk_prices where demo),
        'others', exists (select from client_memory_chunks where metadata ->> 'demo' is distinct from 'true')
               or exists (select from tips_daily_entity_snapshots
                          where not (desk_is_demo_id(id) and family is not distinct from 'demo'))
               or exists (select from token_usage_log
                          where not (desk_is_demo_id(id) and invite_type is not distinct from 'demo')))
$$;
comment on function desk_demo_rows() is 'How many demo rows each table holds, and whether any holds others.';

-- As the owner: prices are append-only for everybody else.
create or replace function desk_remove_demo(p_event jsonb) returns json
language plpgsql security definer set search_path = public, extensions, pg_temp set statement_timeout = '60s' as $$
declare
    chunks bigint;
    snapshots bigint;
    usage bigint;
    prices bigint;
    keys text[];
    gone jsonb;
begin
    -- What corrections have put aside would bring the rows back.
    with aside as (
        delete from desk_excluded_chunks where chunk -> 'metadata' ->> 'demo' = 'true' returning dialog_key, content_hash
    )
    delete from desk_tombstones t using aside a where t.dialog_key = a.dialog_key and t.content_hash = a.content_hash;
    delete from desk_merge_rows where before -> 'metadata' ->> 'demo' = 'true';

    with deleted as (
        delete from client_memory_chunks where metadata ->> 'demo' = 'true' returning dialog_key
    )
    select count(*), array_agg(distinct dialog_key::text) into chunks, keys from deleted;

    with deleted as (
        delete from tips_daily_entity_snapshots
        where id >= 'de30de30-de30-8000-8000-000000000000' and id < 'de30de30-de30-9000-8000-000000000000'
          and family = 'demo'
        returning id, dialog_key::text, entity_type::text, source_role::text, source_id::text, sync_date::date
    ), pins as (
        delete from desk_snapshot_pins p using deleted d where p.snapshot_id = d.id
    ), ledger as (
        delete from desk_snapshot_ledger l using deleted d
        where l.dialog_key = d.dialog_key and l.entity_type = d.entity_type and l.source_role = coalesce(d.source_role, '')
          and l.source_id = coalesce(d.source_id, '') and l.sync_date = d.sync_date
    )
    select count(*), keys || coalesce(array_agg(distinct dialog_key), '{}') into snapshots, keys from deleted;
    -- Hashes of demo snapshots that clean-up has deleted: where nothing at all is left of the dialog.
    delete from desk_snapshot_ledger l
    where l.dialog_key = any (keys)
      and not exists (select from client_memory_chunks c where c.dialog_key = l.dialog_key)
      and not exists (select from tips_daily_entity_snapshots s where s.dialog_key = l.dialog_key);

    delete from token_usage_log
    where id >= 'de30de30-de30-8000-8000-000000000000' and id < 'de30de30-de30-9000-8000-000000000000'
      and invite_type = 'demo';
    get diagnostics usage = row_count;
    delete from desk_prices where demo;
    get diagnostics prices = row_count;

    gone := jsonb_build_object('deleted', chunks + snapshots + usage + prices, 'chunks', chunks, 'snapshots', snapshots,
                               'usage', usage, 'prices', prices);
    insert into desk_meta (key, value)
    values ('demo', jsonb_build_object('state', 'removed', 'at', now()) || gone)
    on conflict (key) do update set value = excluded.value;
    -- The event knows the figures only now; in the same transaction, so that neither is without the other.
    perform companion_append_events(jsonb_build_array(jsonb_set(
        p_event, '{payload}', coalesce(p_event -> 'payload', '{}') || gone)));
    return gone;
end
$$;
comment on function desk_remove_demo(jsonb) is
    'Deletes the demo rows of every table and none of anybody else, remembers that, and appends the event.';

revoke execute on function desk_is_demo_id, desk_write_demo_snapshots, desk_write_demo_prices, desk_demo_rows, desk_remove_demo
    from public, anon, authenticated;
grant execute on function desk_is_demo_id, desk_write_demo_snapshots, desk_write_demo_prices, desk_demo_rows, desk_remove_demo
    to service_role;

notify pgrst, 'reload schema';
