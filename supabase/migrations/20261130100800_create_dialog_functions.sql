-- What the pages and the status route read: lists and totals from the rollup, single dialogs from their rows. Each returns
-- one JSON value, so that the cap of 1,000 rows never cuts it in silence.
select set_config('search_path', 'public, extensions', true);

create or replace function desk_key_order(p_dialog_key text, p_ru_id text, p_tu_id text) returns text
language sql immutable set search_path = public, extensions as $$
    select case p_dialog_key
        when encode(sha256(convert_to('dialog:' || p_ru_id || ':' || p_tu_id, 'UTF8')), 'hex') then 'tips'
        when encode(sha256(convert_to('dialog:' || p_tu_id || ':' || p_ru_id, 'UTF8')), 'hex') then 'generic'
        else 'custom' end
$$;
comment on function desk_key_order(text, text, text) is
    'Which order of the pair a dialog key was made from: tips, generic or custom.';

-- Lower case, and the three apostrophes of Ukrainian words as one.
create or replace function desk_fold(p_text text) returns text
language sql immutable set search_path = public, extensions as $$
    select lower(translate(p_text, U&'\2019\02BC', ''''''))
$$;
comment on function desk_fold(text) is 'A text as the literal search compares it.';

create or replace function desk_dialog_list(
    p_search text default null, p_sort text default 'last_at', p_desc boolean default true, p_limit integer default 25,
    p_offset integer default 0
) returns json
language plpgsql stable set search_path = public, extensions as $$
declare
    wanted text := lower(nullif(trim(p_search), ''));
    result json;
begin
    if p_sort is null or p_sort not in ('last_at', 'chunks', 'updated_at', 'ru_id', 'tu_id') then
        raise exception 'p_sort must be last_at, chunks, updated_at, ru_id or tu_id' using errcode = '22023';
    end if;
    -- Dynamic, so that the first page can come straight from an index; the column is one of the five above.
    execute format($q$
        with found as %3$s (
            select d.* from desk_dialogs d
            where d.chunks > 0 and ($1 is null or starts_with(lower(d.dialog_key), $1)
                  or position($1 in lower(d.ru_id)) > 0 or position($1 in lower(d.tu_id)) > 0
                  or position($1 in lower(d.favorite_id)) > 0)
        ), page as (
            select f.* from found f
            order by f.%1$I %2$s nulls last, f.dialog_key
            limit $2 offset $3
        ), shown as (
            select p.dialog_key, p.ru_id, p.tu_id, p.favorite_id, p.chunks, p.sources, p.first_at, p.last_at, p.updated_at,
                   (select o.dialog_key from desk_dialogs o
                    where o.ru_id = p.ru_id and o.tu_id = p.tu_id and o.dialog_key <> p.dialog_key and o.chunks > 0
                    order by o.chunks desc, o.dialog_key limit 1) as also_under,
                   desk_key_order(p.dialog_key, p.ru_id, p.tu_id) as "order"
            from page p
            order by p.%1$I %2$s nulls last, p.dialog_key
        )
        select json_build_object('rows', (select coalesce(json_agg(shown), '[]') from shown),
                                 'total', (select count(*) from found))
    $q$, p_sort, case when coalesce(p_desc, true) then 'desc' else 'asc' end,
        case when wanted is null then 'not materialized' else 'materialized' end) -- a search looks at each row once
    into result
    using wanted, greatest(0, least(coalesce(p_limit, 25), 1000)), greatest(0, coalesce(p_offset, 0));
    return result;
end
$$;
comment on function desk_dialog_list is 'One page of the dialogs, sorted, optionally those whose key or ids match.';

create or replace function desk_text_search(p_text text, p_limit integer default 25, p_offset integer default 0)
returns json
language plpgsql stable set search_path = public, extensions as $$
declare
    wanted text := desk_fold(p_text);
    result json;
begin
    if coalesce(wanted, '') = '' then
        return json_build_object('rows', '[]'::json, 'total', 0);
    end if;
    with hits as materialized (
        select c.dialog_key, count(*)::integer as hits
        from client_memory_chunks c
        -- desk_fold written out: a function call per row is most of the time otherwise
        where position(wanted in lower(translate(c.text, U&'\2019\02BC', ''''''))) > 0
        group by 1
    ), page as (
        select h.dialog_key, d.ru_id, d.tu_id, d.favorite_id, d.chunks, d.sources, d.first_at, d.last_at, d.updated_at,
               (select o.dialog_key from desk_dialogs o
                where o.ru_id = d.ru_id and o.tu_id = d.tu_id and o.dialog_key <> d.dialog_key and o.chunks > 0
                order by o.chunks desc, o.dialog_key limit 1) as also_under,
               desk_key_order(h.dialog_key, d.ru_id, d.tu_id) as "order", h.hits
        from hits h left join desk_dialogs d on d.dialog_key = h.dialog_key
        order by h.hits desc, h.dialog_key
        limit greatest(0, least(coalesce(p_limit, 25), 1000)) offset greatest(0, coalesce(p_offset, 0))
    )
    select json_build_object('rows', (select coalesce(json_agg(page), '[]') from page),
                             'total', (select count(*) from hits))
    into result;
    return result;
end
$$;
comment on function desk_text_search is
    'Dialogs whose chunks hold this text, letter for letter but for case and kind of apostrophe.';

create or replace function desk_dialog_status(p_dialog_keys text[]) returns json
language plpgsql stable set search_path = public, extensions as $$
declare
    stale boolean := desk_rollups_stale();
    result json;
begin
    with s as materialized (
        select s.dialog_key, s.source, s.chunks, s.last_note_date, s.last_sent_at, s.last_ingest_at,
               greatest(s.last_updated_at, s.last_ingest_at) as fresh_at
        from desk_dialog_sources s
        where s.dialog_key = any (p_dialog_keys) and not stale
        union all
        -- The rollup is not to be trusted just now, and a few dialogs are soon counted. Lateral, so that the chunk table is
        -- not touched otherwise.
        select r.dialog_key, r.source, r.chunks, r.last_note_date, r.last_sent_at, i.last_ingest_at,
               greatest(r.last_updated_at, i.last_ingest_at)
        from (select coalesce(p_dialog_keys, '{}') as keys where stale) asked
        cross join lateral desk_raw_rollups(asked.keys) r
        left join desk_dialog_sources i on i.dialog_key = r.dialog_key and i.source = r.source
        where r.source is not null
    ), per_dialog as (
        select k.key,
               json_build_object(
                   'lastNoteAt', max(s.last_note_date) filter (where s.source = 'note'),
                   'lastMessageAt', max(s.last_sent_at) filter (where s.source = 'conversation'),
                   'profileUpdatedAt',
                       max(s.fresh_at) filter (where s.source = 'profile' and s.chunks > 0),
                   'photoUpdatedAt',
                       max(s.fresh_at) filter (where s.source = 'photo' and s.chunks > 0),
                   'counts', json_build_object(
                       'note', coalesce(sum(s.chunks) filter (where s.source = 'note'), 0),
                       'profile', coalesce(sum(s.chunks) filter (where s.source = 'profile'), 0),
                       'photo', coalesce(sum(s.chunks) filter (where s.source = 'photo'), 0),
                       'conversation', coalesce(sum(s.chunks) filter (where s.source = 'conversation'), 0),
                       'summary', coalesce(sum(s.chunks) filter (where s.source = 'summary'), 0)),
                   'lastIngestAt', max(s.last_ingest_at)) as status
        from (select distinct key from unnest(p_dialog_keys) key where key is not null) k
        left join s on s.dialog_key = k.key
        group by k.key
    )
    select coalesce(json_object_agg(key, status), '{}') into result from per_dialog;
    return result;
end
$$;
comment on function desk_dialog_status(text[]) is
    'Counts and last dates of these dialogs by source; a key without rows has zeros.';

create or replace function desk_dialog_chunks(
    p_dialog_key text, p_source text default null, p_flag text default null, p_text text default null,
    p_model text default null, p_limit integer default 25, p_offset integer default 0
) returns json
language plpgsql stable set search_path = public, extensions as $$
declare
    wanted text := desk_fold(nullif(p_text, ''));
    result json;
begin
    -- duplicate: the same text twice in the dialog, white space folded and in one normal form, so that a composed and a
    -- decomposed letter are the same. cut: a message as long as the limit allows. The flags of a row look at the whole
    -- dialog, whatever is filtered.
    with d as materialized (
        select c.id, c.source, c.source_id,
               coalesce(c.sent_at, c.note_date::timestamp at time zone 'UTC', c.updated_at) as at,
               c.source = 'photo' and starts_with(c.text, 'Main profile photo is available:') as bare_photo,
               c.source = 'conversation' and char_length(c.text) >= 420 as cut,
               p_model is not null and c.embedding_model is distinct from p_model as other_model,
               wanted is null or position(wanted in lower(translate(c.text, U&'\2019\02BC', ''''''))) > 0 as matches,
               -- most texts are in that form already, and finding out costs a tenth of making it
               hashtextextended(case
                   when c.text !~ '^ | $|  |[\t-\r\u00a0\u2000-\u200b\u202f\u3000\ufeff]'
                        and c.text is nfc normalized then c.text
                   else btrim(regexp_replace(normalize(c.text, nfc),
                                             '[\s\u00a0\u2000-\u200b\u202f\u3000\ufeff]+', ' ', 'g'))
                   end, 0) as same
        from client_memory_chunks c
        where c.dialog_key = p_dialog_key
    ), old as materialized (
        select s.id from desk_superseded(array(select d.id from d)) s (id)
    ), flagged as materialized (
        select d.id, d.at, d.source, d.matches,
               array_remove(array[
                   case when count(*) over (partition by d.same) > 1 then 'duplicate' end,
                   case when d.id in (select old.id from old) then 'superseded' end,
                   case when d.other_model then 'other_model' end,
                   case when d.bare_photo
                             and count(*) filter (where not d.bare_photo) over (partition by d.source, d.source_id) = 0
                        then 'photo_without_text' end,
                   case when d.cut then 'cut' end], null) as flags
        from d
    ), filtered as materialized (
        select f.id, f.at, f.flags from flagged f where f.matches and (p_source is null or f.source = p_source)
    ), page as (
        select f.id, f.at, f.flags from filtered f
        where p_flag is null or p_flag = any (f.flags)
        order by f.at desc nulls last, f.id
        limit greatest(0, least(coalesce(p_limit, 25), 1000)) offset greatest(0, coalesce(p_offset, 0))
    ), shown as (
        select c.id, c.dialog_key, c.content_hash, c.client_id, c.woman_id, c.favorite_id, c.source, c.source_id, c.text,
               c.direction, c.compose_mode, c.embedding_model, c.language, c.note_date, c.sent_at, c.tags, c.metadata,
               c.created_at, c.updated_at, p.flags
        from page p join client_memory_chunks c on c.id = p.id
        order by p.at desc nulls last, p.id
    )
    select json_build_object(
        'rows', (select coalesce(json_agg(shown), '[]') from shown),
        'total', (select count(*) from filtered f where p_flag is null or p_flag = any (f.flags)),
        'flag_counts', (select coalesce(json_object_agg(flag, n order by flag), '{}')
                        from (select flag, count(*) as n from filtered f, unnest(f.flags) flag group by 1) counted))
    into result;
    return result;
end
$$;
comment on function desk_dialog_chunks is
    'One page of the chunks of a dialog, newest first, each with its quality flags.';

create or replace function desk_dialog_timeline(p_dialog_key text, p_tz text default 'UTC') returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(t order by t.day, t.source), '[]')
    from (
        -- A note's date is a day already; only moments have a zone. Rows without either are on no day.
        select coalesce((c.sent_at at time zone p_tz)::date, c.note_date) as day, c.source, count(*) as chunks
        from client_memory_chunks c
        where c.dialog_key = p_dialog_key and (c.sent_at is not null or c.note_date is not null)
        group by 1, 2
    ) t
$$;
comment on function desk_dialog_timeline(text, text) is 'Chunks of a dialog by local day and source.';

create or replace function desk_ambiguous_pairs(p_limit integer default 25, p_offset integer default 0) returns json
language sql stable set search_path = public, extensions as $$
    with pairs as materialized (
        select d.ru_id, d.tu_id, max(d.last_at) as last_at from desk_dialogs d
        where d.ru_id is not null and d.tu_id is not null and d.chunks > 0
        group by 1, 2 having count(*) > 1
    ), page as (
        select p.ru_id, p.tu_id, p.last_at from pairs p
        order by p.last_at desc nulls last, p.ru_id, p.tu_id
        limit greatest(0, least(coalesce(p_limit, 25), 1000)) offset greatest(0, coalesce(p_offset, 0))
    ), shown as (
        select p.ru_id, p.tu_id,
               (select json_agg(k order by k."order" desc, k.dialog_key)
                from (select d.dialog_key, desk_key_order(d.dialog_key, d.ru_id, d.tu_id) as "order", d.chunks, d.last_at,
                             d.updated_at
                      from desk_dialogs d where d.ru_id = p.ru_id and d.tu_id = p.tu_id and d.chunks > 0) k) as keys
        from page p
        order by p.last_at desc nulls last, p.ru_id, p.tu_id
    )
    select json_build_object('rows', (select coalesce(json_agg(shown), '[]') from shown),
                             'total', (select count(*) from pairs))
$$;
comment on function desk_ambiguous_pairs(integer, integer) is
    'Pairs of RU and TU with data under more than one dialog key.';

create or replace function desk_overview() returns json
language sql stable set search_path = public, extensions as $$
    with d as (
        select coalesce(sum(chunks), 0) as chunks, count(*) as dialogs, min(first_at) as first_at, max(last_at) as last_at
        from desk_dialogs where chunks > 0
    ), demo as (
        select value ->> 'state' as state from desk_meta where key = 'demo'
    )
    select json_build_object(
        'chunks', d.chunks, 'dialogs', d.dialogs,
        'by_source', (select coalesce(json_object_agg(source, n order by source), '{}')
                      from (select source, sum(chunks) as n from desk_dialog_sources group by 1 having sum(chunks) > 0) s),
        'by_model', (select coalesce(json_object_agg(coalesce(embedding_model, 'none'), n order by n desc), '{}')
                     from (select embedding_model, count(*) as n from client_memory_chunks group by 1) m),
        'first_at', d.first_at, 'last_at', d.last_at,
        'ambiguous_pairs', (select count(*) from (
            select from desk_dialogs where ru_id is not null and tu_id is not null and chunks > 0
            group by ru_id, tu_id having count(*) > 1) p),
        'rollup_stale', desk_rollups_stale(),
        -- A database that never had demo data is not searched for it.
        'demo', json_build_object(
            'state', (select state from demo),
            'chunks', case when exists (select from demo) then
                (select count(*) from client_memory_chunks where metadata ->> 'demo' = 'true') else 0 end))
    from d
$$;
comment on function desk_overview() is 'The totals of the memory.';

revoke execute on function desk_key_order, desk_fold, desk_dialog_list, desk_text_search, desk_dialog_status,
    desk_dialog_chunks, desk_dialog_timeline, desk_ambiguous_pairs, desk_overview from public, anon, authenticated;
grant execute on function desk_key_order, desk_fold, desk_dialog_list, desk_text_search, desk_dialog_status,
    desk_dialog_chunks, desk_dialog_timeline, desk_ambiguous_pairs, desk_overview to service_role;
