-- What pages, API and command line ask about usage. Ranges are whole UTC hours, from `from` on and before `to`; the answers
-- say which. Costs are not computed here: lines keep provider, model, size and the start of the span in which prices stand
-- still, and core prices them.
select set_config('search_path', 'public, extensions', true);

create or replace function desk_record_usage(p_rows jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    given bigint := jsonb_array_length(p_rows);
    written bigint;
begin
    insert into token_usage_log (id, at, request_id, dialog_key, ru_id, tu_id, invite_type, provider, model, phase,
                                 prompt_tokens, completion_tokens, total_tokens, cached_tokens)
    select id, coalesce(at, now()), request_id, dialog_key, ru_id, tu_id, invite_type, provider, model, phase,
           prompt_tokens, completion_tokens, total_tokens, cached_tokens
    from jsonb_to_recordset(p_rows) as r (
        id uuid, at timestamptz, request_id uuid, dialog_key text, ru_id text, tu_id text, invite_type text, provider text,
        model text, phase text, prompt_tokens integer, completion_tokens integer, total_tokens integer,
        cached_tokens integer)
    order by id -- two that write the same rows wait for each other instead of crossing
    on conflict (id) do nothing;
    get diagnostics written = row_count;
    return json_build_object('written', written, 'present', given - written);
end
$$;
comment on function desk_record_usage(jsonb) is 'Writes usage rows; those whose id is there already are left as they are.';

create or replace function desk_usage_summary(p_from timestamptz, p_to timestamptz, p_group_by text[] default '{}',
                                              p_tz text default 'UTC')
returns json language plpgsql stable set search_path = public, extensions set statement_timeout = '30s' as $$
declare
    by_hour boolean := 'hour' = any (p_group_by);
    by_day boolean := 'day' = any (p_group_by);
    by_phase boolean := 'phase' = any (p_group_by);
    low timestamptz := date_trunc('hour', p_from, 'UTC');
    high timestamptz := date_trunc('hour', p_to + interval '1 hour' - interval '1 microsecond', 'UTC');
    first_day timestamptz := date_trunc('day', low + interval '1 day' - interval '1 microsecond', 'UTC');
    last_day timestamptz := date_trunc('day', high, 'UTC');
    starts timestamptz[]; -- where a price starts
    split timestamptz[]; -- days in the middle of which one starts
begin
    starts := array(select distinct valid_from from desk_prices where valid_from > low and valid_from < high order by 1);
    split := array(select distinct date_trunc('day', s, 'UTC') from unnest(starts) s where s <> date_trunc('day', s, 'UTC'));
    -- Whole days come from the totals by day, unless hours are asked for or days of another zone.
    if by_hour or (by_day and p_tz not in ('UTC', 'Etc/UTC')) or first_day >= last_day then
        first_day := high;
        last_day := high;
    end if;
    return (
        with cells as (
            select * from desk_usage_hours h where h.hour >= low and h.hour < first_day
            union all
            select * from desk_usage_hours h where h.hour >= last_day and h.hour < high
            union all
            select d.* from desk_usage_days d
            where d.hour >= first_day and d.hour < last_day and d.hour <> all (split)
            union all
            select h.* from unnest(split) s
            join desk_usage_hours h on h.hour >= s and h.hour < s + interval '24 hours'
            where s >= first_day and s < last_day
        ), grouped as (
            select case when by_hour then c.hour end as hour,
                   case when by_day then (c.hour at time zone p_tz)::date end as day,
                   c.provider, c.model, case when by_phase then c.phase end as phase, c.size_over,
                   width_bucket(c.hour, starts) as span,
                   sum(c.calls) as calls, sum(c.prompt) as prompt, sum(c.completion) as completion, sum(c.total) as total,
                   sum(c.cached) as cached, sum(c.cached_in_prompt) as cached_in_prompt,
                   sum(c.unattributed) as unattributed
            from cells c
            group by 1, 2, 3, 4, 5, 6, 7
            having (sum(c.calls), sum(c.prompt), sum(c.completion), sum(c.total), sum(c.cached)) <> (0, 0, 0, 0, 0)
        )
        select json_build_object(
            'from', low, 'to', high, 'stale', desk_usage_stale(),
            'first', (select min(hour) from desk_usage_hours where hour > '-infinity'),
            'undated', (select coalesce(sum(calls), 0) from desk_usage_hours where hour = '-infinity'),
            'rows', coalesce(json_agg(json_build_object(
                'hour', g.hour, 'day', g.day, 'provider', g.provider, 'model', g.model, 'phase', g.phase,
                'size_over', g.size_over, 'priced_at', case when g.span = 0 then low else starts[g.span] end,
                'calls', g.calls, 'prompt', g.prompt, 'completion', g.completion, 'total', g.total, 'cached', g.cached,
                'cached_in_prompt', g.cached_in_prompt, 'unattributed', g.unattributed)
                order by g.hour, g.day, g.provider, g.model, g.phase, g.size_over, g.span), '[]'))
        from grouped g
    );
end
$$;
comment on function desk_usage_summary(timestamptz, timestamptz, text[], text) is
    'Usage by provider and model, and by hour, day (of a zone) and phase where asked for.';

create or replace function desk_usage_dialogs(p_from timestamptz, p_to timestamptz, p_limit integer default 25,
                                              p_offset integer default 0)
returns json language plpgsql stable set search_path = public, extensions set statement_timeout = '30s' as $$
declare
    low timestamptz := date_trunc('hour', p_from, 'UTC');
    high timestamptz := date_trunc('hour', p_to + interval '1 hour' - interval '1 microsecond', 'UTC');
    starts timestamptz[] := array(
        select distinct valid_from from desk_prices
        where valid_from > date_trunc('hour', p_from, 'UTC') and valid_from < p_to order by 1);
begin
    return (
        with ranked as materialized (
            select d.dialog_key, sum(d.calls) as calls, sum(d.total) as total
            from desk_usage_dialog_hours d where d.hour >= low and d.hour < high
            group by 1 having sum(d.calls) <> 0
        ), best as (
            select * from ranked order by total desc, dialog_key
            limit greatest(0, least(p_limit, 500)) offset greatest(0, p_offset)
        ), parts as (
            -- From the rows, by the index on dialog and time. Rows without a dialog may be most of the table: not these.
            -- Limits and sums are those of desk_usage_cells.
            select u.dialog_key, coalesce(u.provider, '') as provider, coalesce(u.model, '') as model,
                   (array[0, 32000, 32768, 64000, 65536, 128000, 131072, 200000, 256000, 262144, 272000, 500000, 524288,
                          1000000, 1048576])[1 + width_bucket(coalesce(u.prompt_tokens, 0)::integer,
                    array[32001, 32769, 64001, 65537, 128001, 131073, 200001, 256001, 262145, 272001, 500001, 524289,
                          1000001, 1048577])] as size_over,
                   width_bucket(u.at::timestamptz, starts) as span, count(*) as calls,
                   sum(coalesce(u.prompt_tokens, 0)::bigint) as prompt,
                   sum(coalesce(u.completion_tokens, 0)::bigint) as completion,
                   sum(coalesce(u.total_tokens, 0)::bigint) as total, sum(coalesce(u.cached_tokens, 0)::bigint) as cached,
                   sum(greatest(0, least(coalesce(u.cached_tokens, 0), coalesce(u.prompt_tokens, 0)))::bigint)
                       as cached_in_prompt,
                   sum(greatest(0, coalesce(u.total_tokens, 0)::bigint - coalesce(u.prompt_tokens, 0)
                                   - coalesce(u.completion_tokens, 0))) as unattributed,
                   max(u.at) as last
            from token_usage_log u
            where u.dialog_key = any (array(select b.dialog_key from best b where b.dialog_key <> ''))
              and u.at >= low and u.at < high
            group by 1, 2, 3, 4, 5
        )
        select json_build_object(
            'from', low, 'to', high, 'total', (select count(*) from ranked),
            'rows', coalesce((select json_agg(json_build_object(
                'dialog_key', nullif(b.dialog_key, ''), 'ru_id', k.ru_id, 'tu_id', k.tu_id, 'calls', b.calls,
                'total', b.total,
                'last_at', (select max(last) from parts p where p.dialog_key = b.dialog_key),
                'parts', (select coalesce(json_agg(json_build_object(
                    'provider', p.provider, 'model', p.model, 'size_over', p.size_over,
                    'priced_at', case when p.span = 0 then low else starts[p.span] end, 'calls', p.calls,
                    'prompt', p.prompt, 'completion', p.completion, 'total', p.total, 'cached', p.cached,
                    'cached_in_prompt', p.cached_in_prompt, 'unattributed', p.unattributed)
                    order by p.provider, p.model, p.size_over, p.span), '[]')
                    from parts p where p.dialog_key = b.dialog_key))
                order by b.total desc, b.dialog_key)
                from best b left join desk_dialogs k on k.dialog_key = b.dialog_key), '[]')));
end
$$;
comment on function desk_usage_dialogs(timestamptz, timestamptz, integer, integer) is
    'Dialogs by total tokens within a range of hours, each with its parts by provider, model and size.';

create or replace function desk_usage_requests(p_from timestamptz, p_to timestamptz, p_dialog_key text default null,
                                               p_limit integer default 25, p_offset integer default 0)
returns json language plpgsql stable set search_path = public, extensions set statement_timeout = '30s' as $$
declare
    low timestamptz := date_trunc('hour', p_from, 'UTC');
    high timestamptz := date_trunc('hour', p_to + interval '1 hour' - interval '1 microsecond', 'UTC');
    wanted uuid[];
    number bigint;
begin
    -- Two queries, so that each is planned for its own index.
    if p_dialog_key is null then
        with r as materialized (
            select u.request_id, sum(u.total_tokens::bigint) as total from token_usage_log u
            where u.at >= low and u.at < high and u.request_id is not null group by 1
        )
        select (select count(*) from r), array(
            select r.request_id from r order by r.total desc nulls last, r.request_id
            limit greatest(0, least(p_limit, 500)) offset greatest(0, p_offset))
        into number, wanted;
    else
        with r as materialized (
            select u.request_id, max(u.at) as last from token_usage_log u
            where u.dialog_key = p_dialog_key and u.at >= low and u.at < high and u.request_id is not null group by 1
        )
        select (select count(*) from r), array(
            select r.request_id from r order by r.last desc, r.request_id
            limit greatest(0, least(p_limit, 500)) offset greatest(0, p_offset))
        into number, wanted;
    end if;
    return (
        with rows as (
            select u.request_id, min(u.dialog_key) as dialog_key, min(u.at) as first_at, max(u.at) as last_at,
                   json_agg(json_build_object(
                       'at', u.at, 'provider', coalesce(u.provider, ''), 'model', coalesce(u.model, ''),
                       'phase', coalesce(u.phase, ''), 'prompt', u.prompt_tokens, 'completion', u.completion_tokens,
                       'total', u.total_tokens, 'cached', u.cached_tokens) order by u.at, u.id) as calls
            from token_usage_log u where u.request_id = any (wanted) and u.at >= low and u.at < high
            group by 1
        )
        select json_build_object('from', low, 'to', high, 'total', number,
            'rows', coalesce(json_agg(r order by array_position(wanted, r.request_id)), '[]'))
        from rows r
    );
end
$$;
comment on function desk_usage_requests(timestamptz, timestamptz, text, integer, integer) is
    'Requests within a range, each with its calls: the largest first, or of one dialog the latest first.';

create or replace function desk_usage_request(p_request_id uuid) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(json_build_object(
        'id', u.id, 'at', u.at, 'dialog_key', u.dialog_key, 'ru_id', u.ru_id, 'tu_id', u.tu_id,
        'invite_type', u.invite_type, 'provider', coalesce(u.provider, ''), 'model', coalesce(u.model, ''),
        'phase', coalesce(u.phase, ''), 'prompt', u.prompt_tokens, 'completion', u.completion_tokens,
        'total', u.total_tokens, 'cached', u.cached_tokens, 'alike', u.alike) order by u.at, u.id), '[]')
    from (
        select *, count(*) over (partition by at, provider, model, phase, prompt_tokens, completion_tokens, total_tokens,
                                              cached_tokens) as alike
        from token_usage_log where request_id = p_request_id order by at, id limit 1000
    ) u
$$;
comment on function desk_usage_request(uuid) is
    'The calls of a request in order of time, at most 1,000; `alike` counts rows equal in everything but their id.';

create or replace function desk_dialog_usage(p_dialog_key text, p_since timestamptz default null,
                                             p_waiting jsonb default '[]')
returns json language sql stable set search_path = public, extensions as $$
    -- One snapshot: a waiting row that has been written meanwhile is counted in the table and nowhere else.
    with waiting as (
        select w.id, w.prompt_tokens, w.completion_tokens, w.total_tokens
        from jsonb_to_recordset(p_waiting) as w (
            id uuid, dialog_key text, at timestamptz, prompt_tokens integer, completion_tokens integer, total_tokens integer)
        where w.dialog_key = p_dialog_key and (p_since is null or w.at >= p_since)
          and not exists (select from token_usage_log u where u.id = w.id)
    ), rows as (
        select prompt_tokens, completion_tokens, total_tokens from token_usage_log
        where dialog_key = p_dialog_key and (p_since is null or at >= p_since)
        union all
        select prompt_tokens, completion_tokens, total_tokens from waiting
    )
    select json_build_object('calls', count(*), 'prompt', coalesce(sum(prompt_tokens::bigint), 0),
                             'completion', coalesce(sum(completion_tokens::bigint), 0),
                             'total', coalesce(sum(total_tokens::bigint), 0), 'waiting', (select count(*) from waiting))
    from rows
$$;
comment on function desk_dialog_usage(text, timestamptz, jsonb) is
    'Calls and tokens of one dialog from `since` on, with rows that wait to be written, each counted once.';

create or replace function desk_usage_anomalies(p_from timestamptz, p_to timestamptz, p_tz text default 'UTC',
                                                p_floor bigint default 10000, p_factor numeric default 3)
returns json language sql stable set search_path = public, extensions as $$
    -- The same hour on the clock of the zone; days on which nothing was used then say nothing about what is usual.
    with h as materialized (
        select hour, hour at time zone p_tz as local, sum(total) as total, sum(calls) as calls
        from desk_usage_hours
        where hour >= date_trunc('hour', p_from, 'UTC') - interval '15 days' and hour < p_to
        group by 1 having sum(calls) > 0
    ), judged as (
        select a.hour, a.total, a.calls, count(b.total) as days,
               percentile_cont(0.5) within group (order by b.total) as median
        from h a
        cross join generate_series(1, 14) back
        join h b on b.local = a.local - back * interval '1 day'
        where a.hour >= date_trunc('hour', p_from, 'UTC') and a.hour < p_to and a.total > p_floor
        group by 1, 2, 3
    )
    select coalesce(json_agg(json_build_object(
        'hour', hour, 'total', total, 'calls', calls, 'median', round(median), 'days', days,
        'factor', case when median > 0 then round((total / median)::numeric, 1) end) order by hour desc), '[]')
    from judged where days >= 5 and total > p_factor * median
$$;
comment on function desk_usage_anomalies(timestamptz, timestamptz, text, bigint, numeric) is
    'Hours with more than `factor` times the median of the same hour on the 14 days before, where 5 of them had usage.';

revoke execute on function desk_record_usage, desk_usage_summary, desk_usage_dialogs, desk_usage_requests, desk_usage_request,
    desk_dialog_usage, desk_usage_anomalies from public, anon, authenticated;
grant execute on function desk_record_usage, desk_usage_summary, desk_usage_dialogs, desk_usage_requests, desk_usage_request,
    desk_dialog_usage, desk_usage_anomalies to service_role;

-- PostgREST keeps what it knows of the schema; where none listens this does nothing.
notify pgrst, 'reload schema';
