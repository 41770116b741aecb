-- Taking single chunks out of the memory, and putting them back. The row leaves client_memory_chunks, so that neither our
-- search nor the existing service's finds it. Our ingest then passes over it. The existing service's does not know and may
-- write it again: its writes are never refused, but such a chunk is shown as revived.
select set_config('search_path', 'public, extensions', true);

create or replace function desk_missing_hashes(p_dialog_key text, p_hashes text[], p_model text) returns json
language sql stable set search_path = public, extensions as $$
    with asked as (
        select h.hash, min(h.place) as place from unnest(p_hashes) with ordinality h (hash, place) group by 1
    ), found as (
        select a.hash, a.place, c.id is null as absent, c.embedding_model is distinct from p_model as stale,
               exists (select from desk_tombstones t where t.dialog_key = p_dialog_key and t.content_hash = a.hash) as barred
        from asked a
        left join client_memory_chunks c on c.dialog_key = p_dialog_key and c.content_hash = a.hash
    )
    select json_build_object(
        'absent', coalesce(json_agg(hash order by place) filter (where absent and not barred), '[]'),
        'stale', coalesce(json_agg(hash order by place) filter (where not absent and stale), '[]'),
        'excluded', coalesce(json_agg(hash order by place) filter (where absent and barred), '[]'),
        'erased_at', desk_erased_at(p_dialog_key))
    from found
$$;
comment on function desk_missing_hashes(text, text[], text) is
    'Hashes that the dialog lacks (absent; excluded: on purpose) or has under another model or none (stale); and when it was erased.';

-- As before, and a chunk with a tombstone is left out and counted.
create or replace function desk_write_chunks(
    p_dialog_key text, p_rows jsonb, p_seen jsonb default '{}', p_seen_hashes text[] default null
) returns json
language plpgsql set search_path = public, extensions set statement_timeout = '60s' as $$
declare
    foreign_rows bigint;
    barred text[] := '{}';
    added bigint;
    reembedded bigint;
    revived bigint := 0;
begin
    if coalesce(p_dialog_key, '') = '' then
        raise exception 'p_dialog_key is missing' using errcode = '22023';
    end if;
    select count(*) into foreign_rows from jsonb_array_elements(coalesce(p_rows, '[]')) r
    where r ->> 'dialog_key' <> p_dialog_key;
    if foreign_rows > 0 then
        raise exception '% of the rows belong to another dialog', foreign_rows using errcode = '22023';
    end if;

    if exists (select from desk_tombstones where dialog_key = p_dialog_key) then
        -- A tombstone that came with a merge and no longer had the text to compute the new hash from learns it here.
        with given as (
            select r.content_hash, desk_parts_hash(r.source, r.source_id, r.text) as parts_hash
            from jsonb_to_recordset(coalesce(p_rows, '[]')) as r (content_hash text, source text, source_id text, text text)
        ), learned as (
            update desk_tombstones t set content_hash = g.content_hash
            from given g
            where t.dialog_key = p_dialog_key and t.parts_hash = g.parts_hash and t.content_hash <> g.content_hash
              and not exists (select from desk_tombstones o
                              where o.dialog_key = p_dialog_key and o.content_hash = g.content_hash)
        )
        select coalesce(array_agg(g.content_hash), '{}') into barred
        from given g
        where exists (select from desk_tombstones t where t.dialog_key = p_dialog_key
                        and (t.content_hash = g.content_hash or t.parts_hash = g.parts_hash))
          and not exists (select from client_memory_chunks c
                          where c.dialog_key = p_dialog_key and c.content_hash = g.content_hash);
    end if;

    with given as (
        select distinct on (r.content_hash) r.*
        from rows from (jsonb_to_recordset(coalesce(p_rows, '[]')) as (
            content_hash text, client_id text, woman_id text, favorite_id text, source text, source_id text, text text,
            direction text, compose_mode text, embedding vector, embedding_model text, language text, note_date date,
            sent_at timestamptz, tags text[], metadata jsonb, created_at timestamptz)) with ordinality r
        where r.content_hash <> all (barred)
        order by r.content_hash, r.ordinality
    ), written as (
        insert into client_memory_chunks as c (
            dialog_key, content_hash, client_id, woman_id, favorite_id, source, source_id, text, direction, compose_mode,
            embedding, embedding_model, language, note_date, sent_at, tags, metadata, created_at, updated_at)
        select p_dialog_key, g.content_hash, g.client_id, g.woman_id, coalesce(g.favorite_id, p_dialog_key), g.source,
               g.source_id, g.text, g.direction, coalesce(g.compose_mode, 'both'), g.embedding, g.embedding_model,
               g.language, g.note_date, g.sent_at, coalesce(g.tags, '{}'), coalesce(g.metadata, '{}'),
               coalesce(g.created_at, now()), now()
        from given g
        order by g.content_hash -- two ingests of one dialog lock its rows in the same order
        on conflict (dialog_key, content_hash) do update
            set embedding = excluded.embedding, embedding_model = excluded.embedding_model
            where c.embedding_model is distinct from excluded.embedding_model
        returning c.xmax = 0 as is_new
    )
    select count(*) filter (where is_new), count(*) filter (where not is_new) into added, reembedded from written;

    if p_seen_hashes is not null then
        update client_memory_chunks c set updated_at = now()
        where c.id in (
            select desk_superseded(array(
                select s.id from client_memory_chunks s
                where s.dialog_key = p_dialog_key and s.content_hash = any (p_seen_hashes))));
        get diagnostics revived = row_count;
    end if;

    insert into desk_dialog_sources as s (dialog_key, source, last_ingest_at)
    select p_dialog_key, seen.source, now()
    from jsonb_each_text(coalesce(p_seen, '{}')) seen (source, chunks)
    where seen.chunks::numeric > 0
    order by seen.source
    on conflict (dialog_key, source) do update set last_ingest_at = excluded.last_ingest_at;

    return json_build_object('added', added, 'reembedded', reembedded, 'revived', revived,
                             'excluded', cardinality(barred));
end
$$;

-- excluded: stays away until somebody decides otherwise, and can always be put back. deleted: for good, 14 days to undo it.
-- superseded: only the old row goes; should its text become true again, an ingest writes it again.
create or replace function desk_take_out(p_ids uuid[], p_kind text, p_reason text, p_event jsonb) returns json
language plpgsql set search_path = public, extensions set lock_timeout = '10s' set statement_timeout = '60s' as $$
declare
    keys text[];
    sources jsonb;
    taken bigint;
begin
    with gone as (
        delete from client_memory_chunks c where c.id = any (p_ids)
        returning c.id, c.dialog_key, c.content_hash, c.source, c.source_id, c.text, to_jsonb(c) as chunk
    ), stored as (
        insert into desk_excluded_chunks as x (id, dialog_key, content_hash, kind, reason, keep_until, chunk)
        select g.id, g.dialog_key, g.content_hash, p_kind, p_reason,
               case when p_kind <> 'excluded' then now() + interval '14 days' end, g.chunk
        from gone g
        on conflict (id) do update set
            dialog_key = excluded.dialog_key, content_hash = excluded.content_hash, kind = excluded.kind,
            reason = excluded.reason, at = excluded.at, keep_until = excluded.keep_until, chunk = excluded.chunk
    ), barred as (
        insert into desk_tombstones as t (dialog_key, content_hash, parts_hash, kind, reason, source, actor)
        select g.dialog_key, g.content_hash, desk_parts_hash(g.source, g.source_id, g.text), p_kind, p_reason, g.source,
               coalesce(p_event -> 'actor', '{}')
        from gone g
        where p_kind <> 'superseded'
        on conflict (dialog_key, content_hash) do update set
            kind = excluded.kind, reason = excluded.reason, actor = excluded.actor, at = excluded.at
    )
    select count(*), array_agg(distinct g.dialog_key),
           (select jsonb_object_agg(s.source, s.n) from (select x.source, count(*) as n from gone x group by 1) s)
    into taken, keys, sources from gone g;
    perform desk_prune_corrections();
    if taken > 0 then
        perform desk_append_event(
            p_event || jsonb_build_object('record_id', case when cardinality(keys) = 1 then keys[1] end),
            jsonb_build_object('dialog_key', case when cardinality(keys) = 1 then keys[1] end, 'count', taken,
                               'dialogs', cardinality(keys), 'by_source', sources, 'reason', p_reason, 'kind', p_kind));
    end if;
    return json_build_object('count', taken, 'dialogs', coalesce(cardinality(keys), 0), 'missing',
                             (select count(distinct i) from unnest(p_ids) i) - taken);
end
$$;
comment on function desk_take_out(uuid[], text, text, jsonb) is 'Moves chunks out of the memory, with tombstone and event.';

create or replace function desk_exclude_chunks(p_ids uuid[], p_kind text, p_reason text, p_event jsonb) returns json
language plpgsql set search_path = public, extensions set lock_timeout = '10s' set statement_timeout = '60s' as $$
begin
    if p_kind is null or p_kind not in ('excluded', 'deleted') or coalesce(p_reason, '') = ''
       or cardinality(p_ids) > 1000 then
        raise exception 'p_kind must be excluded or deleted, with a reason and 1,000 ids at most' using errcode = '22023';
    end if;
    return desk_take_out(p_ids, p_kind, p_reason, p_event);
end
$$;
comment on function desk_exclude_chunks(uuid[], text, text, jsonb) is
    'Takes chunks out of the memory so that our ingest does not write them again.';

create or replace function desk_restore_chunks(
    p_ids uuid[] default '{}', p_dialog_key text default null, p_hashes text[] default '{}', p_event jsonb default null
) returns json
language plpgsql security definer set search_path = public, extensions, pg_temp
set lock_timeout = '10s' set statement_timeout = '60s' as $$
declare
    columns text := (select string_agg(quote_ident(c), ', ') from unnest(desk_columns('client_memory_chunks'::regclass)) c);
    asked bigint;
    restored bigint;
    lifted bigint;
    keys text[];
begin
    select count(*), array_agg(distinct x.dialog_key) into asked, keys from (
        select x.dialog_key from desk_excluded_chunks x where x.id = any (p_ids) order by x.id for update) x;
    -- Dialog and hash as they are now: a merge may have changed them while the chunk was away.
    execute format($q$
        insert into client_memory_chunks (%1$s)
        select %1$s from (
            select (jsonb_populate_record(null::client_memory_chunks, x.chunk || jsonb_build_object(
                'dialog_key', x.dialog_key, 'content_hash', x.content_hash))).*
            from desk_excluded_chunks x where x.id = any ($1)) r
        on conflict do nothing
    $q$, columns) using p_ids;
    get diagnostics restored = row_count;
    delete from desk_tombstones t using desk_excluded_chunks x
    where x.id = any (p_ids) and t.dialog_key = x.dialog_key and t.content_hash = x.content_hash;
    delete from desk_excluded_chunks where id = any (p_ids);
    delete from desk_tombstones t where t.dialog_key = p_dialog_key and t.content_hash = any (p_hashes);
    get diagnostics lifted = row_count;
    if asked + lifted > 0 then
        keys := coalesce(keys, array[p_dialog_key]);
        perform desk_append_event(
            p_event || jsonb_build_object('record_id', case when cardinality(keys) = 1 then keys[1] end),
            jsonb_build_object('dialog_key', case when cardinality(keys) = 1 then keys[1] end, 'count', restored,
                               'present', asked - restored, 'lifted', lifted));
    end if;
    return json_build_object('restored', restored, 'present', asked - restored, 'lifted', lifted,
                             'missing', (select count(distinct i) from unnest(p_ids) i) - asked);
end
$$;
comment on function desk_restore_chunks(uuid[], text, text[], jsonb) is
    'Puts chunks back as they were; for a tombstone whose text is gone, lets the next ingest write it again.';

create or replace function desk_excluded(p_dialog_key text default null, p_limit integer default 25, p_offset integer default 0)
returns json language sql stable set search_path = public, extensions as $$
    with away as (
        select coalesce(t.dialog_key, x.dialog_key) as dialog_key, coalesce(t.content_hash, x.content_hash) as content_hash,
               x.id, coalesce(x.kind, t.kind) as kind, coalesce(x.reason, t.reason) as reason, coalesce(x.at, t.at) as at,
               x.keep_until, coalesce(x.chunk ->> 'source', t.source) as source, x.chunk ->> 'source_id' as source_id,
               x.chunk ->> 'text' as text, x.chunk ->> 'sent_at' as sent_at, x.chunk ->> 'note_date' as note_date,
               t.dialog_key is not null and exists (
                   select from client_memory_chunks c
                   where c.dialog_key = t.dialog_key and c.content_hash = t.content_hash) as revived
        from (select * from desk_tombstones where p_dialog_key is null or dialog_key = p_dialog_key) t
        full join (select * from desk_excluded_chunks
                   where (p_dialog_key is null or dialog_key = p_dialog_key) and (keep_until is null or keep_until > now())) x
            on x.dialog_key = t.dialog_key and x.content_hash = t.content_hash
    ), page as (
        select * from away order by at desc, dialog_key, content_hash, id
        limit greatest(0, least(coalesce(p_limit, 25), 500)) offset greatest(0, coalesce(p_offset, 0))
    )
    select json_build_object('rows', (select coalesce(json_agg(page order by at desc, dialog_key, content_hash, id), '[]') from page),
                             'total', (select count(*) from away),
                             'revived', (select count(*) from away where revived))
$$;
comment on function desk_excluded(text, integer, integer) is
    'What was taken out, newest first; without an id only the tombstone is left. revived: another writer brought it back.';

-- The ids of all superseded rows, of one dialog or of all: only groups with several rows are looked at.
create or replace function desk_superseded_ids(p_dialog_key text default null) returns uuid[]
language plpgsql stable set search_path = public, extensions set plan_cache_mode = 'force_custom_plan' as $$
begin
    return array(
        with several as materialized (
            select c.dialog_key, c.source, c.source_id from client_memory_chunks c
            where c.source_id <> '' and (p_dialog_key is null or c.dialog_key = p_dialog_key)
            group by 1, 2, 3 having count(*) > 1)
        select desk_superseded(array(
            select c.id from several s join client_memory_chunks c
                on c.dialog_key = s.dialog_key and c.source = s.source and c.source_id = s.source_id)));
end
$$;
comment on function desk_superseded_ids(text) is 'Every superseded chunk of a dialog, or of all.';

create or replace function desk_superseded_preview(
    p_dialog_key text default null, p_limit integer default 25, p_offset integer default 0
) returns json
language plpgsql stable set search_path = public, extensions set statement_timeout = '60s' as $$
declare
    ids uuid[] := desk_superseded_ids(p_dialog_key);
    result json;
begin
    with page as (
        select c.id, c.dialog_key, c.source, c.source_id, c.text, c.updated_at, n.text as newer_text, n.updated_at as newer_at
        from unnest(ids) i
        join client_memory_chunks c on c.id = i
        left join lateral (
            select n.text, n.updated_at from client_memory_chunks n
            where n.dialog_key = c.dialog_key and n.source = c.source and n.source_id = c.source_id
              and n.updated_at > c.updated_at and n.text <> c.text
            order by n.updated_at desc, n.id limit 1) n on true
        order by c.dialog_key, c.source, c.source_id, c.updated_at, c.id
        limit greatest(0, least(coalesce(p_limit, 25), 500)) offset greatest(0, coalesce(p_offset, 0))
    ), counted as (
        select c.source, count(*) as n from unnest(ids) i join client_memory_chunks c on c.id = i group by 1
    )
    select json_build_object(
        'rows', (select coalesce(json_agg(page order by dialog_key, source, source_id, updated_at, id), '[]') from page),
        'total', cardinality(ids),
        'dialogs', (select count(distinct c.dialog_key) from unnest(ids) i join client_memory_chunks c on c.id = i),
        'by_source', (select coalesce(json_object_agg(source, n order by source), '{}') from counted))
    into result;
    return result;
end
$$;
comment on function desk_superseded_preview(text, integer, integer) is 'Chunks that a newer text of the same source_id replaced, beside it.';

create or replace function desk_delete_superseded(
    p_ids uuid[] default null, p_dialog_key text default null, p_limit integer default 500, p_event jsonb default null
) returns json
language plpgsql set search_path = public, extensions set lock_timeout = '10s' set statement_timeout = '60s' as $$
declare
    k integer := greatest(0, least(coalesce(p_limit, 500), 1000));
    ids uuid[];
    done json;
begin
    -- Locked first, then judged by what they say now: a row that became current again meanwhile stays.
    ids := array(
        select c.id from client_memory_chunks c
        where c.id = any (coalesce(p_ids, desk_superseded_ids(p_dialog_key)))
        order by c.id limit k for update);
    ids := array(select desk_superseded(ids));
    done := desk_take_out(ids, 'superseded', 'superseded', p_event);
    return json_build_object('deleted', done -> 'count', 'dialogs', done -> 'dialogs');
end
$$;
comment on function desk_delete_superseded(uuid[], text, integer, jsonb) is
    'Takes out superseded chunks, one batch, each judged again; 14 days to put them back.';

revoke execute on function desk_missing_hashes, desk_write_chunks, desk_take_out, desk_exclude_chunks, desk_restore_chunks,
    desk_excluded, desk_superseded_ids, desk_superseded_preview, desk_delete_superseded from public, anon, authenticated;
grant execute on function desk_missing_hashes, desk_write_chunks, desk_take_out, desk_exclude_chunks, desk_restore_chunks,
    desk_excluded, desk_superseded_ids, desk_superseded_preview, desk_delete_superseded to service_role;
