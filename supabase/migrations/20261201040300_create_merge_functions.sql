-- Two keys of one pair become one. Rows are deleted and inserted in one statement rather than updated: no trigger then takes
-- the merge for news and gives them a new updated_at, by which status and the superseded rule go.
select set_config('search_path', 'public, extensions', true);

create or replace function desk_merge_preview(p_kept text, p_dropped text) returns json
language plpgsql stable security definer set search_path = public, extensions, pg_temp set statement_timeout = '60s' as $$
declare
    tab record;
    n bigint;
    others jsonb := '{}';
    sides jsonb;
    clashes json;
    pairs bigint;
begin
    if p_kept = p_dropped or coalesce(p_kept, '') = '' or coalesce(p_dropped, '') = '' then
        raise exception 'two different keys are needed' using errcode = '22023';
    end if;
    for tab in select * from desk_key_tables() where name not like 'desk\_dialog%' and name not like 'desk\_usage\_%'
                                               and name <> 'client_memory_chunks' loop
        execute format('select count(*) from %I where dialog_key = $1', tab.name) into n using p_dropped;
        if n > 0 then
            others := others || jsonb_build_object(tab.name, n);
        end if;
    end loop;
    select jsonb_object_agg(k.side, (
        select jsonb_build_object(
            'dialog_key', k.key, 'chunks', count(*),
            'sources', (select coalesce(jsonb_object_agg(s.source, s.n), '{}') from (
                select x.source, count(*) as n from client_memory_chunks x where x.dialog_key = k.key group by 1) s),
            'ru_id', (select d.ru_id from desk_dialogs d where d.dialog_key = k.key),
            'tu_id', (select d.tu_id from desk_dialogs d where d.dialog_key = k.key),
            'order', (select desk_key_order(k.key, d.ru_id, d.tu_id) from desk_dialogs d where d.dialog_key = k.key),
            'last_write_at', max(c.updated_at),
            'last_ingest_at', (select max(s.last_ingest_at) from desk_dialog_sources s where s.dialog_key = k.key),
            'last_read_at', (select max(e.ts) from companion_events e
                             where e.record_id = k.key and e.type in ('SearchPerformed', 'SearchEmpty', 'SearchFallbackUsed')),
            'last_usage_at', (select max(u.at) from token_usage_log u where u.dialog_key = k.key),
            'recent', coalesce(max(c.updated_at) > now() - interval '14 days', false))
        from client_memory_chunks c where c.dialog_key = k.key))
    into sides from (values ('kept', p_kept), ('dropped', p_dropped)) k (side, key);

    select json_build_object('chunks', count(*), 'newer_under_dropped', count(*) filter (where newer))
    into clashes from (
        select coalesce(d.updated_at, '-infinity') > coalesce(c.updated_at, '-infinity') as newer
        from client_memory_chunks d
        join client_memory_chunks c
            on c.dialog_key = p_kept and c.content_hash = desk_chunk_hash(p_kept, d.source, d.source_id, d.text)
        where d.dialog_key = p_dropped) x;
    return json_build_object(
        'kept', sides -> 'kept', 'dropped', sides -> 'dropped', 'clashes', clashes, 'other_tables', others,
        'both_alive', (sides #>> '{kept,recent}')::boolean and (sides #>> '{dropped,recent}')::boolean,
        'different_pairs', desk_different_pairs(p_kept, p_dropped),
        'tombstones_without_text', (
            select count(*) from desk_tombstones t where t.dialog_key = p_dropped and not exists (
                select from desk_excluded_chunks x where x.dialog_key = t.dialog_key and x.content_hash = t.content_hash)));
end
$$;
comment on function desk_merge_preview(text, text) is
    'What stands under both keys, when each was last written and read, and what a merge would meet.';

create or replace function desk_different_pairs(p_kept text, p_dropped text) returns boolean
language sql stable set search_path = public, extensions as $$
    select exists (
        select from desk_dialogs k, desk_dialogs d
        where k.dialog_key = p_kept and d.dialog_key = p_dropped and (k.ru_id <> d.ru_id or k.tu_id <> d.tu_id))
$$;
comment on function desk_different_pairs(text, text) is 'Whether what is known of both keys says that they are two pairs.';

-- One table. p_hash: the new content_hash as an expression over alias t, for tables whose hash holds the key.
create or replace function desk_move_rows(
    p_merge uuid, p_table oid, p_referenced boolean, p_kept text, p_dropped text, p_hash text default null
) returns jsonb
language plpgsql set search_path = public, extensions as $$
declare
    name text := (select relname from pg_class where oid = p_table);
    columns text[] := desk_columns(p_table);
    pk text[] := desk_key_columns(p_table);
    uniq record;
    newer text; -- by what a row is newer than another
    lost bigint := 0;
    moved bigint;
    n bigint;
begin
    execute format('select from %I where dialog_key in ($1, $2) for update', name) using p_kept, p_dropped;
    select coalesce(string_agg(format('coalesce(t.%I::timestamptz, ''-infinity'')', c), ', ' order by place), '1') into newer
    from unnest(array['updated_at', 'recorded_at', 'written_at', 'pinned_at', 'at', 'created_at']) with ordinality w (c, place)
    where c = any (columns) and exists (
        select from pg_attribute a where a.attrelid = p_table and a.attname = c
          and a.atttypid in ('timestamptz'::regtype, 'timestamp'::regtype, 'date'::regtype));

    -- Rows that meet one of the other key under a unique index: the newer stays, of equals the one that is there.
    for uniq in
        select array_agg(a.attname::text) as names
        from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
        where i.indrelid = p_table and i.indisunique and i.indpred is null and i.indexprs is null
        group by i.indexrelid having bool_or(a.attname = 'dialog_key') and count(*) > 1
    loop
        execute format($q$
            with both_keys as materialized (
                select t.ctid as place, t.tableoid as part, t.dialog_key::text = $2 as dropped, row(%2$s) as age, %3$s
                from %1$I t where t.dialog_key = $2
                union all
                select t.ctid, t.tableoid, false, row(%2$s), %4$s from %1$I t where t.dialog_key = $3
            ), ranked as (
                select place, part, row_number() over (partition by %5$s order by age desc, dropped, place) as n
                from both_keys where num_nulls(%5$s) = 0
            ), gone as (
                delete from %1$I t using ranked r where t.ctid = r.place and t.tableoid = r.part and r.n > 1
                returning to_jsonb(t) as before
            )
            insert into desk_merge_rows (merge_id, table_name, kind, before) select $1, %1$L, 'lost', before from gone
        $q$, name, newer,
            (select string_agg(case when c = 'content_hash' and p_hash is not null then p_hash else format('t.%I', c) end
                               || format(' as %I', 'u_' || c), ', ')
             from unnest(uniq.names) c where c <> 'dialog_key'),
            (select string_agg(format('t.%I', c), ', ') from unnest(uniq.names) c where c <> 'dialog_key'),
            (select string_agg(format('%I', 'u_' || c), ', ') from unnest(uniq.names) c where c <> 'dialog_key'))
        using p_merge, p_dropped, p_kept;
        get diagnostics n = row_count;
        lost := lost + n;
    end loop;

    -- Enough to find the row again and to give back what it had. A table without a key is found by all that it holds.
    execute format($q$
        insert into desk_merge_rows (merge_id, table_name, kind, before, after_hash)
        select $1, %1$L, 'moved', %2$s, %3$s from %1$I t where t.dialog_key = $2
    $q$, name,
        case when cardinality(pk) = 0 then 'to_jsonb(t)' else 'jsonb_build_object(' || (
            select string_agg(format('%1$L, t.%1$I', c), ', ')
            from (select unnest(pk || array['dialog_key'] || case when p_hash is null then '{}' else array['content_hash'] end)
                  as c group by 1) k) || ')' end,
        coalesce(p_hash, 'null'))
    using p_merge, p_dropped, p_kept;
    if p_referenced then
        execute format('update %I t set dialog_key = $2 %s where t.dialog_key = $1', name,
                       case when p_hash is null then '' else ', content_hash = ' || replace(p_hash, '$3', '$2') end)
        using p_dropped, p_kept;
    else
        execute format($q$
            with t as (delete from %1$I where dialog_key = $2 returning *)
            insert into %1$I (%2$s) overriding system value select %3$s from t
        $q$, name, (select string_agg(quote_ident(c), ', ') from unnest(columns) c),
            (select string_agg(case when c = 'dialog_key' then '$3' when c = 'content_hash' and p_hash is not null then p_hash
                               else 't.' || quote_ident(c) end, ', ') from unnest(columns) c))
        using p_merge, p_dropped, p_kept;
    end if;
    get diagnostics moved = row_count;
    return jsonb_strip_nulls(jsonb_build_object('moved', nullif(moved, 0), 'lost', nullif(lost, 0)));
end
$$;
comment on function desk_move_rows is 'Gives the rows of one table another dialog key, and notes the way back.';

create or replace function desk_copy_chunks(p_merge uuid, p_kept text, p_dropped text) returns jsonb
language plpgsql set search_path = public, extensions as $$
declare
    columns text[] := array(select c from unnest(desk_columns('client_memory_chunks'::regclass)) c
                            where c not in ('id', 'dialog_key', 'content_hash'));
    lost bigint;
    copied bigint;
begin
    perform from client_memory_chunks where dialog_key in (p_kept, p_dropped) for update;
    with gone as (
        delete from client_memory_chunks k using client_memory_chunks d
        where k.dialog_key = p_kept and d.dialog_key = p_dropped
          and k.content_hash = desk_chunk_hash(p_kept, d.source, d.source_id, d.text)
          and (coalesce(d.updated_at, '-infinity'), coalesce(d.created_at, '-infinity'))
              > (coalesce(k.updated_at, '-infinity'), coalesce(k.created_at, '-infinity'))
        returning to_jsonb(k) as before
    )
    insert into desk_merge_rows (merge_id, table_name, kind, before)
    select distinct on (before ->> 'id') p_merge, 'client_memory_chunks', 'lost', before from gone;
    get diagnostics lost = row_count;
    execute format($q$
        with made as (
            insert into client_memory_chunks (id, dialog_key, content_hash, %1$s)
            select gen_random_uuid(), $2, desk_chunk_hash($2, t.source, t.source_id, t.text), %2$s
            from client_memory_chunks t where t.dialog_key = $3
            on conflict do nothing
            returning id
        )
        insert into desk_merge_rows (merge_id, table_name, kind, before)
        select $1, 'client_memory_chunks', 'copied', jsonb_build_object('id', id) from made
    $q$, (select string_agg(quote_ident(c), ', ') from unnest(columns) c),
        (select string_agg('t.' || quote_ident(c), ', ') from unnest(columns) c))
    using p_merge, p_kept, p_dropped;
    get diagnostics copied = row_count;
    return jsonb_strip_nulls(jsonb_build_object('copied', nullif(copied, 0), 'lost', nullif(lost, 0)));
end
$$;
comment on function desk_copy_chunks(uuid, text, text) is 'Gives the kept key a copy of every chunk of the other; that one stays as it is.';

create or replace function desk_merge_dialog_keys(p_kept text, p_dropped text, p_mode text, p_event jsonb) returns json
language plpgsql security definer set search_path = public, extensions, pg_temp
set lock_timeout = '10s' set statement_timeout = '120s' as $$
declare
    this uuid := gen_random_uuid();
    t record;
    one jsonb;
    done jsonb := '{}';
    ours uuid[];
begin
    if p_mode is null or p_mode not in ('move', 'copy') then
        raise exception 'p_mode must be move or copy' using errcode = '22023';
    end if;
    if p_kept = p_dropped or coalesce(p_kept, '') = '' or coalesce(p_dropped, '') = '' then
        raise exception 'two different keys are needed' using errcode = '22023', hint = 'A key cannot be merged with itself.';
    end if;
    if desk_different_pairs(p_kept, p_dropped) then
        raise exception 'the keys belong to different pairs' using errcode = '22023',
            hint = 'Only the keys of one RU and TU can be merged.';
    end if;
    perform pg_advisory_xact_lock(hashtextextended('desk_merges', 0));
    perform desk_prune_corrections();
    insert into desk_merges (id, kept_key, dropped_key, mode, actor, stamps)
    select this, p_kept, p_dropped, p_mode, coalesce(p_event -> 'actor', '{}'),
           coalesce((select jsonb_agg(jsonb_build_object('dialog_key', s.dialog_key, 'source', s.source, 'at', s.last_ingest_at))
                     from desk_dialog_sources s
                     where s.dialog_key in (p_kept, p_dropped) and s.last_ingest_at is not null), '[]');

    if p_mode = 'copy' then
        done := jsonb_build_object('client_memory_chunks', desk_copy_chunks(this, p_kept, p_dropped));
    else
        ours := array(select o.snapshot_id from desk_snapshot_origins o
                      join tips_daily_entity_snapshots s on s.id = o.snapshot_id and s.xmin = o.written_by
                      where s.dialog_key = p_dropped);
        for t in select * from desk_key_tables() where name not like 'desk\_dialog%' and name not like 'desk\_usage\_%' loop
            one := desk_move_rows(this, t.oid, t.referenced, p_kept, p_dropped, case t.name
                when 'client_memory_chunks' then 'desk_chunk_hash($3, t.source, t.source_id, t.text)'
                when 'desk_excluded_chunks' then
                    'desk_chunk_hash($3, t.chunk ->> ''source'', t.chunk ->> ''source_id'', t.chunk ->> ''text'')'
                when 'desk_tombstones' then
                    'coalesce((select desk_chunk_hash($3, x.chunk ->> ''source'', x.chunk ->> ''source_id'', x.chunk ->> ''text'')
                               from desk_excluded_chunks x
                               where x.dialog_key = t.dialog_key and x.content_hash = t.content_hash limit 1), t.content_hash)'
                end);
            if one <> '{}' then
                done := done || jsonb_build_object(t.name, one);
            end if;
        end loop;
        -- Moving a row is not writing it: what was ours stays ours.
        update desk_snapshot_origins set written_by = pg_current_xact_id()::xid where snapshot_id = any (ours);
    end if;
    if done = '{}' or done = '{"client_memory_chunks": {}}' then
        raise exception 'nothing stands under the dropped key' using errcode = '22023', hint = 'There is nothing to merge.';
    end if;

    update desk_dialog_sources s set last_ingest_at = greatest(s.last_ingest_at, (x ->> 'at')::timestamptz)
    from desk_merges m, jsonb_array_elements(m.stamps) x
    where m.id = this and s.dialog_key = p_kept and x ->> 'dialog_key' = p_dropped and x ->> 'source' = s.source;
    update desk_merges set counts = done where id = this;
    perform desk_append_event(p_event, jsonb_build_object(
        'merge_id', this, 'kept_key', p_kept, 'dropped_key', p_dropped, 'mode', p_mode,
        'moved', coalesce((select sum((v ->> 'moved')::bigint) from jsonb_each(done) c (k, v)), 0),
        'copied', coalesce((select sum((v ->> 'copied')::bigint) from jsonb_each(done) c (k, v)), 0),
        'dropped', coalesce((select sum((v ->> 'lost')::bigint) from jsonb_each(done) c (k, v)), 0)));
    return json_build_object('merge_id', this, 'tables', done);
end
$$;
comment on function desk_merge_dialog_keys(text, text, text, jsonb) is
    'Merges one dialog key into another, over every table that holds one, with its event and the way back for 14 days.';

create or replace function desk_unmove_rows(p_merge uuid, p_table text, p_kept text) returns bigint
language plpgsql set search_path = public, extensions as $$
declare
    found_table oid := to_regclass(format('public.%I', p_table));
    columns text[];
    pk text[];
    referenced boolean;
    names text;
    same text;
    n bigint;
    done bigint := 0;
begin
    if found_table is null then
        return 0;
    end if;
    columns := desk_columns(found_table);
    pk := desk_key_columns(found_table);
    referenced := exists (select from pg_constraint f where f.contype = 'f' and f.confrelid = found_table);
    names := (select string_agg(quote_ident(c), ', ') from unnest(columns) c);

    if p_table = 'client_memory_chunks' then
        delete from client_memory_chunks t using desk_merge_rows m
        where m.merge_id = p_merge and m.table_name = p_table and m.kind = 'copied' and t.dialog_key = p_kept
          and t.id = (m.before ->> 'id')::uuid;
        get diagnostics n = row_count;
        done := done + n;
    end if;

    -- What happened to a moved row since then stays with it; a row that is gone is not made again.
    same := case when cardinality(pk) = 0
        then 'to_jsonb(t) - ''dialog_key'' - ''content_hash'' = to_jsonb(b.b) - ''dialog_key'' - ''content_hash'''
        else (select string_agg(case c when 'dialog_key' then 'true' when 'content_hash' then 't.content_hash = coalesce(b.after_hash, (b.b).content_hash)'
                                else format('t.%1$I = (b.b).%1$I', c) end, ' and ') from unnest(pk) c) end;
    execute format($q$
        with b as materialized (
            select jsonb_populate_record(null::%1$I, m.before) as b, m.after_hash
            from desk_merge_rows m where m.merge_id = $1 and m.table_name = %1$L and m.kind = 'moved'
        ), moved as (
            %2$s
        )
        %3$s
    $q$, p_table,
        case when referenced
            then format('update %I t set dialog_key = (b.b).dialog_key %s from b where t.dialog_key = $2 and %s returning 1',
                        p_table, case when 'content_hash' = any (columns)
                             then ', content_hash = case when b.after_hash is null then t.content_hash else (b.b).content_hash end'
                             else '' end, same)
            else format('delete from %I t using b where t.dialog_key = $2 and %s returning t as t, b.b as b, b.after_hash', p_table, same) end,
        case when referenced then 'select from moved'
            else format('insert into %I (%s) overriding system value select %s from moved on conflict do nothing', p_table, names,
                (select string_agg(case c when 'dialog_key' then '(b).dialog_key'
                        when 'content_hash' then 'case when after_hash is null then (t).content_hash else (b).content_hash end'
                        else format('(t).%I', c) end, ', ') from unnest(columns) c)) end)
    using p_merge, p_kept;
    get diagnostics n = row_count;
    done := done + n;

    execute format($q$
        insert into %1$I (%2$s) overriding system value
        select %2$s from (select (jsonb_populate_record(null::%1$I, m.before)).* from desk_merge_rows m
                          where m.merge_id = $1 and m.table_name = %1$L and m.kind = 'lost') r
        on conflict do nothing
    $q$, p_table, names) using p_merge;
    get diagnostics n = row_count;
    return done + n;
end
$$;
comment on function desk_unmove_rows(uuid, text, text) is 'Takes one table of a merge back.';

create or replace function desk_undo_merge(p_id uuid, p_event jsonb) returns json
language plpgsql security definer set search_path = public, extensions, pg_temp
set lock_timeout = '10s' set statement_timeout = '120s' as $$
declare
    m desk_merges;
    t record;
    rows bigint := 0;
    ours uuid[];
begin
    perform pg_advisory_xact_lock(hashtextextended('desk_merges', 0));
    select * into m from desk_merges where id = p_id for update;
    if m.id is null then
        return json_build_object('outcome', 'missing');
    elsif m.undone_at is not null then
        return json_build_object('outcome', 'undone');
    elsif m.undo_until < now() then
        return json_build_object('outcome', 'expired');
    elsif exists (select from desk_merges l where l.merged_at > m.merged_at and l.undone_at is null and l.id <> m.id
                    and array[l.kept_key, l.dropped_key] && array[m.kept_key, m.dropped_key]) then
        return json_build_object('outcome', 'later');
    end if;
    ours := array(select o.snapshot_id from desk_snapshot_origins o
                  join tips_daily_entity_snapshots s on s.id = o.snapshot_id and s.xmin = o.written_by
                  where s.dialog_key = m.kept_key);
    -- In the order of the merge: the ledger stands before the snapshots come back and write it.
    for t in select r.table_name, min(r.n) as first from desk_merge_rows r where r.merge_id = p_id group by 1 order by 2 loop
        rows := rows + desk_unmove_rows(p_id, t.table_name, m.kept_key);
    end loop;
    update desk_snapshot_origins o set written_by = pg_current_xact_id()::xid
    from tips_daily_entity_snapshots s
    where o.snapshot_id = any (ours) and s.id = o.snapshot_id and s.xmin = pg_current_xact_id()::xid;

    -- A stamp that an ingest has moved since the merge stays.
    update desk_dialog_sources s set last_ingest_at = (
        select (x ->> 'at')::timestamptz from jsonb_array_elements(m.stamps) x
        where x ->> 'dialog_key' = s.dialog_key and x ->> 'source' = s.source)
    where s.dialog_key in (m.kept_key, m.dropped_key) and coalesce(s.last_ingest_at, '-infinity') < m.merged_at;
    delete from desk_merge_rows where merge_id = p_id;
    update desk_merges set undone_at = now() where id = p_id;
    perform desk_append_event(p_event, jsonb_build_object(
        'merge_id', p_id, 'kept_key', m.kept_key, 'dropped_key', m.dropped_key, 'rows', rows));
    return json_build_object('outcome', 'done', 'rows', rows, 'kept_key', m.kept_key, 'dropped_key', m.dropped_key);
end
$$;
comment on function desk_undo_merge(uuid, jsonb) is
    'Moves back what a merge moved. outcome: done, missing, undone, expired, or later (undo the later merge first).';

create or replace function desk_merge_list(p_limit integer default 25, p_offset integer default 0) returns json
language sql stable set search_path = public, extensions as $$
    with page as (
        select m.id, m.kept_key, m.dropped_key, m.mode, m.counts, m.actor, m.merged_at, m.undo_until, m.undone_at,
               k.ru_id, k.tu_id, coalesce(d.chunks, 0) as chunks_under_dropped,
               m.mode = 'move' and m.undone_at is null and coalesce(d.chunks, 0) > 0 as written_again
        from desk_merges m
        left join desk_dialogs k on k.dialog_key = m.kept_key
        left join desk_dialogs d on d.dialog_key = m.dropped_key
        order by m.merged_at desc, m.id
        limit greatest(0, least(coalesce(p_limit, 25), 500)) offset greatest(0, coalesce(p_offset, 0))
    )
    select json_build_object('rows', (select coalesce(json_agg(page order by merged_at desc, id), '[]') from page),
                             'total', (select count(*) from desk_merges))
$$;
comment on function desk_merge_list(integer, integer) is 'Merges, newest first; written_again: rows came under the dropped key since.';

revoke execute on function desk_merge_preview, desk_different_pairs, desk_move_rows, desk_copy_chunks, desk_merge_dialog_keys,
    desk_unmove_rows, desk_undo_merge, desk_merge_list from public, anon, authenticated;
grant execute on function desk_merge_preview, desk_different_pairs, desk_merge_dialog_keys, desk_undo_merge, desk_merge_list
    to service_role;
