-- Erasing a person: every trace of a dialog in one transaction, and a record that holds nothing of it. Which tables there are
-- is asked of the catalogue: one that names a dialog in a column loses those rows, one that names it elsewhere loses the name.
select set_config('search_path', 'public, extensions', true);

-- All keys of the person: the one given, what was merged with it, and those that the caller adds.
create or replace function desk_person_keys(p_dialog_key text, p_also text[] default '{}') returns text[]
language sql stable set search_path = public, extensions as $$
    with recursive k as (
        select x as key from unnest(array[p_dialog_key] || coalesce(p_also, '{}')) x where x <> ''
        union
        select case when m.kept_key = k.key then m.dropped_key else m.kept_key end
        from k join desk_merges m on k.key in (m.kept_key, m.dropped_key) and m.undone_at is null
    )
    select array_agg(key order by key) from k
$$;
comment on function desk_person_keys(text, text[]) is 'The dialog keys that an erasure takes together.';

create or replace function desk_erase_preview(p_dialog_key text, p_also text[] default '{}') returns json
language plpgsql stable security definer set search_path = public, extensions, pg_temp set statement_timeout = '60s' as $$
declare
    keys text[] := desk_person_keys(p_dialog_key, p_also);
    t record;
    n bigint;
    tables jsonb := '{}';
begin
    for t in select * from desk_key_tables() where name not like 'desk\_dialog%' and name not like 'desk\_usage\_%' loop
        execute format('select count(*) from %I where dialog_key = any ($1)', t.name) into n using keys;
        if n > 0 then
            tables := tables || jsonb_build_object(t.name, n);
        end if;
    end loop;
    select count(*) into n from desk_merges where kept_key = any (keys) or dropped_key = any (keys);
    if n > 0 then
        tables := tables || jsonb_build_object('desk_merges', n);
    end if;
    select count(*) into n from companion_events e
    where e.erased_by is null and (e.record_id = any (keys) or exists (
        select from unnest(keys) k where position(to_jsonb(k)::text in e.payload::text) > 0));
    if n > 0 then
        tables := tables || jsonb_build_object('companion_events', n);
    end if;
    return json_build_object(
        'keys', keys, 'tables', tables, 'erased_at', desk_erased_at(p_dialog_key),
        'ru_id', (select d.ru_id from desk_dialogs d where d.dialog_key = p_dialog_key),
        'tu_id', (select d.tu_id from desk_dialogs d where d.dialog_key = p_dialog_key),
        -- The same pair under keys that are not among these: they stay unless they are named.
        'others', (select coalesce(json_agg(json_build_object('dialog_key', o.dialog_key, 'chunks', o.chunks)
                                            order by o.dialog_key), '[]')
                   from (select distinct o.dialog_key, o.chunks from desk_dialogs o join desk_dialogs d
                             on d.dialog_key = any (keys) and d.ru_id = o.ru_id and d.tu_id = o.tu_id
                         where o.dialog_key <> all (keys) and o.chunks > 0 order by 1 limit 50) o));
end
$$;
comment on function desk_erase_preview(text, text[]) is 'How many rows of which table an erasure would take, and under which keys.';

-- Whole JSON strings that name the person, wherever they stand. p_ids are uuids as text.
create or replace function desk_scrub(p_value jsonb, p_names text[]) returns jsonb
language plpgsql immutable set search_path = public, extensions as $$
declare
    written text := p_value::text;
    one text;
begin
    for one in
        select n from unnest(p_names) n where position(to_jsonb(n)::text in written) > 0
    loop
        written := replace(written, to_jsonb(one)::text, '"erased"');
    end loop;
    return written::jsonb;
end
$$;
comment on function desk_scrub(jsonb, text[]) is 'A JSON value without these names.';

create or replace function desk_names_any(p_value jsonb, p_keys text[], p_ids text[]) returns boolean
language sql immutable set search_path = public, extensions as $$
    select exists (select from unnest(p_keys) k where position(to_jsonb(k)::text in p_value::text) > 0)
        or exists (select from jsonb_path_query(p_value, '$.** ? (@.type() == "string")') v
                   where length(v #>> '{}') = 36 and v #>> '{}' = any (p_ids))
$$;
comment on function desk_names_any(jsonb, text[], text[]) is 'Whether a JSON value holds one of these as a whole string.';

create or replace function desk_erase_dialog(
    p_dialog_key text, p_reason text, p_event jsonb, p_also text[] default '{}'
) returns json
language plpgsql security definer set search_path = public, extensions, pg_temp
set lock_timeout = '10s' set statement_timeout = '120s' as $$
declare
    keys text[] := desk_person_keys(p_dialog_key, p_also);
    marks text[]; -- keys that count as erased from now on: also the pair's other order, unless it lives on
    ids text[] := '{}'; -- of rows and requests, by which others may name the person
    found text[];
    t record;
    c record;
    n bigint;
    counts jsonb := '{}';
    salt text := replace(gen_random_uuid()::text, '-', '') || replace(gen_random_uuid()::text, '-', '');
    erasure uuid := gen_random_uuid();
    event uuid := (p_event ->> 'event_id')::uuid;
    pairs text[];
begin
    if coalesce(p_dialog_key, '') = '' or event is null then
        raise exception 'p_dialog_key and p_event are needed' using errcode = '22023';
    end if;
    if p_reason is null or p_reason not in ('request', 'legal', 'mistake', 'test', 'other') then
        raise exception 'p_reason must be request, legal, mistake, test or other' using errcode = '22023';
    end if;
    perform pg_advisory_xact_lock(hashtextextended('desk_merges', 0));

    -- Who it is, while that is still known.
    select array_agg(distinct d.ru_id || ':' || d.tu_id),
           array_agg(distinct k.key)
    into pairs, marks
    from desk_dialogs d, lateral (values
        (encode(sha256(convert_to('dialog:' || d.ru_id || ':' || d.tu_id, 'UTF8')), 'hex')),
        (encode(sha256(convert_to('dialog:' || d.tu_id || ':' || d.ru_id, 'UTF8')), 'hex'))) k (key)
    where d.dialog_key = any (keys) and d.ru_id <> '' and d.tu_id <> '';
    marks := keys || array(
        select m from unnest(marks) m
        where m <> all (keys) and not exists (select from desk_dialogs o where o.dialog_key = m and o.chunks > 0));
    for t in select * from desk_key_tables() where name not like 'desk\_dialog%' and name not like 'desk\_usage\_%' loop
        for c in select a.attname from pg_attribute a
                 where a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped and a.atttypid = 'uuid'::regtype
                   and a.attname in ('id', 'request_id', 'chunk_id', 'snapshot_id', 'retrieval_id')
        loop
            execute format('select array_agg(distinct %1$I::text) from %2$I where dialog_key = any ($1) and %1$I is not null',
                           c.attname, t.name) into found using keys;
            ids := ids || coalesce(found, '{}');
        end loop;
    end loop;
    ids := ids || array(select r.before ->> 'id' from desk_merge_rows r join desk_merges m on m.id = r.merge_id
                        where (m.kept_key = any (keys) or m.dropped_key = any (keys)) and r.before ? 'id');

    -- Rows that hang on a row of the person by its id, such as the chunks of a retrieval; then the rows themselves.
    for t in
        select cl.relname as name, a.attname as ref from pg_class cl join pg_attribute a on a.attrelid = cl.oid
        where cl.relnamespace = 'public'::regnamespace and cl.relkind in ('r', 'p') and not cl.relispartition
          and a.attname in ('chunk_id', 'snapshot_id', 'retrieval_id') and not a.attisdropped and a.atttypid = 'uuid'::regtype
    loop
        execute format('delete from %I where %I::text = any ($1)', t.name, t.ref) using ids;
        get diagnostics n = row_count;
        if n > 0 then
            counts := counts || jsonb_build_object(t.name, n);
        end if;
    end loop;
    -- Numbers stay, so that totals do: only who it was goes.
    update token_usage_log u set dialog_key = null, ru_id = null, tu_id = null, request_id = null
    where u.dialog_key = any (keys) or u.ru_id || ':' || u.tu_id = any (pairs)
       or (u.dialog_key is null and u.request_id in (
            select r.request_id from token_usage_log r where r.dialog_key = any (keys) and r.request_id is not null));
    get diagnostics n = row_count;
    if n > 0 then
        counts := counts || jsonb_build_object('token_usage_log', n);
    end if;
    for t in
        select k.* from desk_key_tables() k where k.name <> 'token_usage_log'
        -- rows of others that refer to these first; the rollups last, after the triggers have brought them up to date
        order by k.name like 'desk\_dialog%' or k.name like 'desk\_usage\_%', k.name <> 'client_memory_chunks', k.referenced, k.name
    loop
        execute format('delete from %I where dialog_key = any ($1)', t.name) using keys;
        get diagnostics n = row_count;
        if n > 0 then
            counts := counts || jsonb_build_object(t.name, n);
        end if;
    end loop;
    delete from desk_merges where kept_key = any (keys) or dropped_key = any (keys);
    get diagnostics n = row_count;
    if n > 0 then
        counts := counts || jsonb_build_object('desk_merges', n);
    end if;

    -- The log keeps that something happened, when and by whom, and loses what it said.
    perform pg_advisory_xact_lock(hashtextextended('companion_events', 0));
    update companion_events e set
        payload = '{"erased": true}', record_id = null, salt = null, erased_by = event, actor = e.actor - 'rationale'
    where e.erased_by is null
      and (e.record_id = any (keys) or e.record_id = any (ids) or desk_names_any(e.payload, keys, ids)
           or desk_names_any(to_jsonb(e.actor ->> 'rationale'), keys, ids)
           or exists (select from unnest(keys) k where position(k in e.actor ->> 'rationale') > 0));
    get diagnostics n = row_count;
    if n > 0 then
        counts := counts || jsonb_build_object('companion_events', n);
    end if;

    -- Jobs that are alive and name the person come to an end.
    if to_regprocedure('desk_cancel_job(uuid)') is not null then
        perform desk_cancel_job(j.id) from desk_jobs j
        where j.state in ('queued', 'running', 'cancelling')
          and (desk_names_any(j.params, keys, '{}') or desk_names_any(j.cursor, keys, '{}')
               or exists (select from unnest(keys) k where j.key = k or j.key like '%:' || k));
    end if;

    -- Every other table of ours: a name inside JSON, or as the whole or the end of a text.
    for t in
        select cl.relname as name, a.attname as "column", a.atttypid in ('jsonb'::regtype, 'json'::regtype) as is_json,
               a.attnotnull, format_type(a.atttypid, null) as type
        from pg_class cl join pg_attribute a on a.attrelid = cl.oid
        where cl.relnamespace = 'public'::regnamespace and cl.relkind in ('r', 'p') and not cl.relispartition
          and (cl.relname like 'desk\_%' or cl.relname like 'companion\_%' or cl.relname like 'memory\_%')
          and cl.relname not in ('companion_events', 'companion_event_gaps', 'desk_erasures')
          and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
          and a.atttypid in ('jsonb'::regtype, 'json'::regtype, 'text'::regtype, 'varchar'::regtype)
          and not exists (select from pg_attribute d where d.attrelid = cl.oid and d.attname = 'dialog_key' and not d.attisdropped)
    loop
        if t.is_json then
            execute format('update %1$I set %2$I = desk_scrub(%2$I::jsonb, $1)::%3$s where desk_names_any(%2$I::jsonb, $2, $3)',
                           t.name, t."column", t.type) using keys || ids, keys, ids;
        else
            execute format($q$
                update %1$I x set %2$I = 'erased-' || left(gen_random_uuid()::text, 8)
                where x.%2$I = any ($2) or exists (
                    select from unnest($1) k where x.%2$I = k or x.%2$I like '%%:' || replace(replace(replace(k, '\', '\\'), '%%', '\%%'), '_', '\_')
                       or (length(k) >= 32 and position(k in x.%2$I) > 0))
            $q$, t.name, t."column") using keys, ids;
        end if;
        get diagnostics n = row_count;
        if n > 0 then
            counts := counts || jsonb_build_object(t.name, n + coalesce((counts ->> t.name)::bigint, 0));
        end if;
    end loop;

    if counts = '{}' then
        return json_build_object('outcome', 'missing');
    end if;
    insert into desk_erasures (id, salt, key_hashes, reason, actor, event_id, counts)
    select erasure, salt, array(select desk_salted(salt, m) from unnest(marks) m group by m order by 1), p_reason,
           coalesce(p_event -> 'actor', '{}'), event, counts;
    perform desk_append_event(p_event, jsonb_build_object(
        'erasure_id', erasure, 'reason', p_reason, 'keys', cardinality(keys), 'by_table', counts));
    return json_build_object('outcome', 'done', 'erasure_id', erasure, 'keys', keys, 'pairs', coalesce(pairs, '{}'),
                             'tables', counts);
end
$$;
comment on function desk_erase_dialog(text, text, jsonb, text[]) is
    'Erases a person: rows, names in other rows, words in the log; the record of it holds hashes alone.';

-- A call of the time before, which waited on some disk while its person was erased, is counted without its person.
create or replace function desk_record_usage(p_rows jsonb) returns json
language plpgsql security definer set search_path = public, extensions, pg_temp as $$
declare
    given bigint := jsonb_array_length(p_rows);
    written bigint;
begin
    insert into token_usage_log (id, at, request_id, dialog_key, ru_id, tu_id, invite_type, provider, model, phase,
                                 prompt_tokens, completion_tokens, total_tokens, cached_tokens)
    select id, coalesce(at, now()), case when not g.erased then request_id end, case when not g.erased then dialog_key end,
           case when not g.erased then ru_id end, case when not g.erased then tu_id end, invite_type, provider, model, phase,
           prompt_tokens, completion_tokens, total_tokens, cached_tokens
    from jsonb_to_recordset(p_rows) as r (
        id uuid, at timestamptz, request_id uuid, dialog_key text, ru_id text, tu_id text, invite_type text, provider text,
        model text, phase text, prompt_tokens integer, completion_tokens integer, total_tokens integer,
        cached_tokens integer)
    cross join lateral (select exists (
        select from desk_erasures x
        where x.erased_at > r.at and x.key_hashes && array[
            desk_salted(x.salt, r.dialog_key),
            desk_salted(x.salt, encode(sha256(convert_to('dialog:' || r.ru_id || ':' || r.tu_id, 'UTF8')), 'hex'))])
        as erased) g
    order by id -- two that write the same rows wait for each other instead of crossing
    on conflict (id) do nothing;
    get diagnostics written = row_count;
    return json_build_object('written', written, 'present', given - written);
end
$$;

-- The planner's samples of a column hold values too. On its own, since it may have to wait for a vacuum.
create or replace function desk_forget_statistics() returns json
language plpgsql security definer set search_path = public, extensions, pg_temp
set lock_timeout = '5s' set statement_timeout = '120s' as $$
declare
    t record;
    done bigint := 0;
    waiting bigint := 0;
begin
    for t in
        -- Columns that may hold words; all, where an index holds an expression of them, which is sampled only then.
        select cl.relname as name, case
            when exists (select from pg_index i where i.indrelid = cl.oid and i.indexprs is not null) then ''
            else '(' || string_agg(quote_ident(a.attname), ', ' order by a.attnum) || ')' end as columns
        from pg_class cl join pg_attribute a on a.attrelid = cl.oid
        where cl.relnamespace = 'public'::regnamespace and cl.relkind = 'r' and pg_has_role(cl.relowner, 'usage')
          and a.attnum > 0 and not a.attisdropped
          and a.atttypid in ('text'::regtype, 'varchar'::regtype, 'jsonb'::regtype, 'uuid'::regtype, 'text[]'::regtype)
        group by cl.oid, cl.relname order by 1
    loop
        begin
            -- Where nothing is left to sample, in an empty table or a partial index, the old samples would stay.
            if to_regproc('pg_catalog.pg_clear_attribute_stats') is not null then
                execute format($q$
                    select pg_catalog.pg_clear_attribute_stats('public', r.relname, a.attname, false)
                    from pg_class r join pg_attribute a on a.attrelid = r.oid
                    where a.attnum > 0 and not a.attisdropped and (
                        (r.oid = %1$L::regclass and not exists (select from %1$I))
                        or r.oid in (select i.indexrelid from pg_index i
                                     where i.indrelid = %1$L::regclass and i.indexprs is not null))
                $q$, t.name);
            end if;
            execute format('analyze %I %s', t.name, t.columns);
            done := done + 1;
        exception when lock_not_available or insufficient_privilege or wrong_object_type then
            waiting := waiting + 1; -- autovacuum is at work there, and samples it itself
        end;
    end loop;
    return json_build_object('tables', done, 'waiting', waiting);
end
$$;
comment on function desk_forget_statistics() is 'Samples the columns anew, so that the planner holds no value of an erased row.';

-- What asks for a person's attention: chunks that came back, merged keys and erased persons that are written again.
create or replace function desk_corrections_state() returns json
language plpgsql stable security definer set search_path = public, extensions, pg_temp set statement_timeout = '30s' as $$
declare
    result json;
begin
    with revived as materialized (
        select t.dialog_key, count(*) as chunks
        from desk_tombstones t join client_memory_chunks c on c.dialog_key = t.dialog_key and c.content_hash = t.content_hash
        group by 1
    ), reopened as materialized (
        select m.id, m.kept_key, m.dropped_key, d.chunks
        from desk_merges m join desk_dialogs d on d.dialog_key = m.dropped_key and d.chunks > 0
        where m.mode = 'move' and m.undone_at is null
          and not exists (select from desk_merges l where l.merged_at > m.merged_at and l.undone_at is null
                            and l.kept_key = m.dropped_key)
    ), erased as materialized (
        select x.id, x.salt, x.key_hashes, x.erased_at from desk_erasures x
    ), written as materialized (
        -- Only keys that were written since the oldest erasure are hashed.
        select d.dialog_key, coalesce(d.updated_at, 'infinity') as at, 'client_memory_chunks' as name
        from desk_dialogs d where d.chunks > 0 and coalesce(d.updated_at, 'infinity') >= (select min(erased_at) from erased)
        union all
        select s.dialog_key, max(coalesce(s.updated_at, s.created_at, 'infinity')), 'tips_daily_entity_snapshots'
        from tips_daily_entity_snapshots s where s.sync_date >= (select min(erased_at)::date - 1 from erased) group by 1
        union all
        select u.dialog_key, max(u.hour) + interval '1 hour', 'token_usage_log'
        from desk_usage_dialog_hours u
        where u.hour >= (select date_trunc('hour', min(erased_at)) from erased) and u.dialog_key <> '' and u.calls > 0
        group by 1
    ), back as materialized (
        select x.id, x.erased_at, w.dialog_key, array_agg(w.name order by w.name) as tables
        from erased x join written w on w.at >= x.erased_at and desk_salted(x.salt, w.dialog_key) = any (x.key_hashes)
        group by 1, 2, 3
    )
    select json_build_object(
        'tombstones', (select count(*) from desk_tombstones),
        'revived', (select coalesce(sum(chunks), 0) from revived),
        'revived_dialogs', (select coalesce(json_agg(r.dialog_key), '[]') from (
            select dialog_key from revived order by 1 limit 20) r),
        'reopened', (select coalesce(json_agg(r), '[]') from (
            select id, kept_key, dropped_key, chunks from reopened order by chunks desc, id limit 20) r),
        'erasures', (select count(*) from erased),
        'written_again', (select coalesce(json_agg(b), '[]') from (
            select id, erased_at, dialog_key, tables from back order by erased_at desc, dialog_key limit 20) b))
    into result;
    return result;
end
$$;
comment on function desk_corrections_state() is
    'Chunks that another writer brought back, merged keys and erased persons that are written again.';

create or replace function desk_erasure_list(p_limit integer default 25, p_offset integer default 0) returns json
language sql stable set search_path = public, extensions as $$
    with page as (
        select x.id, x.reason, x.actor, x.erased_at, x.counts from desk_erasures x order by x.erased_at desc, x.id
        limit greatest(0, least(coalesce(p_limit, 25), 500)) offset greatest(0, coalesce(p_offset, 0))
    )
    select json_build_object('rows', (select coalesce(json_agg(page order by erased_at desc, id), '[]') from page),
                             'total', (select count(*) from desk_erasures))
$$;
comment on function desk_erasure_list(integer, integer) is 'The records of erasures, newest first.';

revoke execute on function desk_person_keys, desk_erase_preview, desk_scrub, desk_names_any, desk_erase_dialog,
    desk_forget_statistics, desk_corrections_state, desk_erasure_list from public, anon, authenticated;
grant execute on function desk_person_keys, desk_erase_preview, desk_erase_dialog, desk_forget_statistics,
    desk_corrections_state, desk_erasure_list to service_role;

notify pgrst, 'reload schema';
