-- Usage by UTC hour, so that no page ever counts calls: by provider, model and phase (desk_usage_hours, and the same by UTC
-- day), and by dialog (desk_usage_dialog_hours). Kept by statement-level triggers on a table that another service writes;
-- they must not fail or slow its writes. The manner is that of the rollup of the chunks: run as the owner, wait a tenth of a
-- second for a table and half a second for a row, lock rows in the order of the key, answer every error with a fault.
--
-- Every column is a sum, so a change is added and nothing is ever computed again. A writer adds in its own transaction; so
-- one snapshot of rows and rollup differs by the faults alone, and a rebuild adds that difference without stopping anybody.
--
-- Prices may depend on the size of a call's prompt, for the whole call. `size_over` therefore keeps calls of different size
-- apart: the highest of a few fixed limits that the prompt exceeds, 0 for most. Prices may use these limits and no others.
select set_config('search_path', 'public, extensions', true);
select set_config('client_min_messages', 'warning', true);
select set_config('lock_timeout', '4s', true);

create table if not exists desk_usage_hours (
    hour timestamptz,
    provider text,
    model text,
    phase text,
    size_over integer,
    calls bigint not null default 0,
    prompt bigint not null default 0,
    completion bigint not null default 0,
    total bigint not null default 0,
    cached bigint not null default 0,
    cached_in_prompt bigint not null default 0,
    unattributed bigint not null default 0,
    primary key (hour, provider, model, phase, size_over)
) with (fillfactor = 80, vacuum_truncate = off); -- truncation takes an exclusive lock, which a writer would meet
comment on table desk_usage_hours is 'Rollup of token_usage_log by UTC hour; kept by triggers, see desk_rebuild_usage.';
comment on column desk_usage_hours.hour is 'Start of the hour in UTC; -infinity for rows without a time.';
comment on column desk_usage_hours.size_over is 'The highest known size limit that the prompt of each of these calls exceeds.';
comment on column desk_usage_hours.cached_in_prompt is 'Cached tokens, of each call no more than its prompt: what a cheaper price applies to.';
comment on column desk_usage_hours.unattributed is 'Where the total of a call is more than its prompt and completion: the rest.';

create table if not exists desk_usage_days (like desk_usage_hours including all) with (fillfactor = 80, vacuum_truncate = off);
comment on table desk_usage_days is 'The same by UTC day (`hour` is its midnight), for long ranges.';

create table if not exists desk_usage_dialog_hours (
    hour timestamptz,
    dialog_key text,
    calls bigint not null default 0,
    total bigint not null default 0,
    primary key (hour, dialog_key)
) with (fillfactor = 80, vacuum_truncate = off);
comment on table desk_usage_dialog_hours is 'Calls and tokens by UTC hour and dialog: ranks dialogs; what one used is read from its rows.';

create sequence if not exists desk_usage_faults;
comment on sequence desk_usage_faults is 'Transaction of the last usage fault that could not even be written to desk_meta.';

alter table desk_usage_hours enable row level security;
alter table desk_usage_days enable row level security;
alter table desk_usage_dialog_hours enable row level security;
revoke all on desk_usage_hours, desk_usage_days, desk_usage_dialog_hours from public, anon, authenticated;
revoke all on sequence desk_usage_faults from public, anon, authenticated;
grant all on desk_usage_hours, desk_usage_days, desk_usage_dialog_hours to service_role;
grant select on sequence desk_usage_faults to service_role;

-- A row that came (1) or went (-1), and what rollup and rows may differ by. No trigger names these types in a declaration: a
-- type that is missing there fails before any handler stands.
do $$
begin
    if to_regtype('desk_usage_change') is null then
        create type desk_usage_change as (
            sign integer, at timestamptz, dialog_key text, provider text, model text, phase text, prompt integer,
            completion integer, total integer, cached integer);
        create type desk_usage_cell as (
            hour timestamptz, dialog_key text, provider text, model text, phase text, size_over integer, calls bigint,
            prompt bigint, completion bigint, total bigint, cached bigint, cached_in_prompt bigint, unattributed bigint);
    end if;
end
$$;

create or replace function desk_usage_cells(p_changes desk_usage_change[]) returns setof desk_usage_cell
language sql stable set search_path = public, extensions as $$
    -- The limits stand here and in desk_raw_usage: a function of its own would cost more than all the rest.
    select coalesce(date_trunc('hour', c.at, 'UTC'), '-infinity'), coalesce(c.dialog_key, ''), coalesce(c.provider, ''),
           coalesce(c.model, ''), coalesce(c.phase, ''),
           (array[0, 32000, 32768, 64000, 65536, 128000, 131072, 200000, 256000, 262144, 272000, 500000, 524288, 1000000,
                  1048576])[1 + width_bucket(coalesce(c.prompt, 0),
            array[32001, 32769, 64001, 65537, 128001, 131073, 200001, 256001, 262145, 272001, 500001, 524289, 1000001,
                  1048577])],
           sum(c.sign), sum(c.sign * coalesce(c.prompt, 0)::bigint), sum(c.sign * coalesce(c.completion, 0)::bigint),
           sum(c.sign * coalesce(c.total, 0)::bigint), sum(c.sign * coalesce(c.cached, 0)::bigint),
           sum(c.sign * greatest(0, least(coalesce(c.cached, 0), coalesce(c.prompt, 0)))::bigint),
           sum(c.sign * greatest(0, coalesce(c.total, 0)::bigint - coalesce(c.prompt, 0) - coalesce(c.completion, 0)))
    from unnest(p_changes) c
    group by 1, 2, 3, 4, 5, 6
$$;
comment on function desk_usage_cells(desk_usage_change[]) is 'Changed rows of token_usage_log as sums of the finest grain.';

create or replace function desk_raw_usage() returns setof desk_usage_cell
language sql stable set search_path = public, extensions as $$
    select coalesce(date_trunc('hour', u.at::timestamptz, 'UTC'), '-infinity'), null::text, coalesce(u.provider, ''),
           coalesce(u.model, ''), coalesce(u.phase, ''),
           (array[0, 32000, 32768, 64000, 65536, 128000, 131072, 200000, 256000, 262144, 272000, 500000, 524288, 1000000,
                  1048576])[1 + width_bucket(coalesce(u.prompt_tokens, 0)::integer,
            array[32001, 32769, 64001, 65537, 128001, 131073, 200001, 256001, 262145, 272001, 500001, 524289, 1000001,
                  1048577])],
           count(*), sum(coalesce(u.prompt_tokens, 0)::bigint), sum(coalesce(u.completion_tokens, 0)::bigint),
           sum(coalesce(u.total_tokens, 0)::bigint), sum(coalesce(u.cached_tokens, 0)::bigint),
           sum(greatest(0, least(coalesce(u.cached_tokens, 0), coalesce(u.prompt_tokens, 0)))::bigint),
           sum(greatest(0, coalesce(u.total_tokens, 0)::bigint - coalesce(u.prompt_tokens, 0)
                           - coalesce(u.completion_tokens, 0)))
    from token_usage_log u
    group by 1, 2, 3, 4, 5, 6
$$;
comment on function desk_raw_usage() is 'What desk_usage_hours must say, from the rows.';

create or replace function desk_add_usage(p_changes desk_usage_change[]) returns void
language plpgsql set search_path = public, extensions as $$
begin
    lock table desk_usage_hours, desk_usage_days, desk_usage_dialog_hours in row exclusive mode;
    perform set_config('lock_timeout', '500ms', true);

    insert into desk_usage_dialog_hours as r
    select c.hour, c.dialog_key, sum(c.calls), sum(c.total)
    from desk_usage_cells(p_changes) c
    group by 1, 2
    having (sum(c.calls), sum(c.total)) <> (0, 0)
    order by 1, 2
    on conflict (hour, dialog_key) do update set calls = r.calls + excluded.calls, total = r.total + excluded.total;

    -- A dialog that has gone leaves no key behind.
    if exists (select from unnest(p_changes) c where c.sign < 0) then
        delete from desk_usage_dialog_hours r
        using (select distinct c.hour, c.dialog_key from desk_usage_cells(p_changes) c) gone
        where r.hour = gone.hour and r.dialog_key = gone.dialog_key and r.calls = 0 and r.total = 0;
    end if;

    -- These rows are shared by everybody who writes within the hour: last, so that they are held shortest.
    insert into desk_usage_hours as r
    select c.hour, c.provider, c.model, c.phase, c.size_over, sum(c.calls), sum(c.prompt), sum(c.completion),
           sum(c.total), sum(c.cached), sum(c.cached_in_prompt), sum(c.unattributed)
    from desk_usage_cells(p_changes) c
    group by 1, 2, 3, 4, 5
    having (sum(c.calls), sum(c.prompt), sum(c.completion), sum(c.total), sum(c.cached), sum(c.cached_in_prompt),
            sum(c.unattributed)) <> (0, 0, 0, 0, 0, 0, 0)
    order by 1, 2, 3, 4, 5
    on conflict (hour, provider, model, phase, size_over) do update set
        calls = r.calls + excluded.calls, prompt = r.prompt + excluded.prompt,
        completion = r.completion + excluded.completion, total = r.total + excluded.total,
        cached = r.cached + excluded.cached, cached_in_prompt = r.cached_in_prompt + excluded.cached_in_prompt,
        unattributed = r.unattributed + excluded.unattributed;

    insert into desk_usage_days as r
    select date_trunc('day', c.hour, 'UTC'), c.provider, c.model, c.phase, c.size_over, sum(c.calls), sum(c.prompt),
           sum(c.completion), sum(c.total), sum(c.cached), sum(c.cached_in_prompt), sum(c.unattributed)
    from desk_usage_cells(p_changes) c
    group by 1, 2, 3, 4, 5
    having (sum(c.calls), sum(c.prompt), sum(c.completion), sum(c.total), sum(c.cached), sum(c.cached_in_prompt),
            sum(c.unattributed)) <> (0, 0, 0, 0, 0, 0, 0)
    order by 1, 2, 3, 4, 5
    on conflict (hour, provider, model, phase, size_over) do update set
        calls = r.calls + excluded.calls, prompt = r.prompt + excluded.prompt,
        completion = r.completion + excluded.completion, total = r.total + excluded.total,
        cached = r.cached + excluded.cached, cached_in_prompt = r.cached_in_prompt + excluded.cached_in_prompt,
        unattributed = r.unattributed + excluded.unattributed;
end
$$;
comment on function desk_add_usage(desk_usage_change[]) is 'Adds changed rows to the usage rollup, waiting for nobody long.';

create or replace function desk_note_usage_fault(p_sqlstate text) returns void
language plpgsql security definer set search_path = public, extensions, pg_temp set lock_timeout = '100ms' as $$
begin
    begin
        insert into desk_meta (key, value)
        values ('usage_fault:' || gen_random_uuid(), jsonb_build_object('sqlstate', p_sqlstate, 'at', clock_timestamp()));
        return;
    exception when others then
        null; -- desk_meta itself is locked or gone
    end;
    -- A sequence takes no row lock and outlives a rollback; it holds the transaction, see desk_rebuild_usage.
    perform setval('desk_usage_faults', greatest(pg_current_xact_id()::text::bigint, last_value)) from desk_usage_faults;
end
$$;
comment on function desk_note_usage_fault(text) is 'Marks the usage rollup stale without waiting for anybody.';

create or replace function desk_usage_after_write() returns trigger
language plpgsql security definer set search_path = public, extensions, pg_temp set lock_timeout = '100ms' as $$
begin
    if tg_op = 'TRUNCATE' then
        delete from desk_usage_dialog_hours;
        delete from desk_usage_hours;
        delete from desk_usage_days;
    elsif tg_op = 'INSERT' then
        perform desk_add_usage(array_agg(row(
            1, n.at, n.dialog_key, n.provider, n.model, n.phase, n.prompt_tokens, n.completion_tokens, n.total_tokens,
            n.cached_tokens)::desk_usage_change)) from new_rows n;
    elsif tg_op = 'DELETE' then
        perform desk_add_usage(array_agg(row(
            -1, o.at, o.dialog_key, o.provider, o.model, o.phase, o.prompt_tokens, o.completion_tokens, o.total_tokens,
            o.cached_tokens)::desk_usage_change)) from old_rows o;
    else
        perform desk_add_usage(array_agg(c.change)) from (
            select row(1, n.at, n.dialog_key, n.provider, n.model, n.phase, n.prompt_tokens, n.completion_tokens,
                       n.total_tokens, n.cached_tokens)::desk_usage_change as change
            from new_rows n
            union all
            select row(-1, o.at, o.dialog_key, o.provider, o.model, o.phase, o.prompt_tokens, o.completion_tokens,
                       o.total_tokens, o.cached_tokens)::desk_usage_change
            from old_rows o) c;
    end if;
    return null;
exception when others then
    begin
        perform desk_note_usage_fault(sqlstate);
    exception when others then
        null; -- the write goes on whatever is broken here; desk_check_usage compares with the rows
    end;
    return null;
end
$$;
comment on function desk_usage_after_write() is 'Trigger: keeps the usage rollup; never fails the write.';

create or replace trigger desk_usage_insert after insert on token_usage_log
    referencing new table as new_rows for each statement execute function desk_usage_after_write();
create or replace trigger desk_usage_update after update on token_usage_log
    referencing old table as old_rows new table as new_rows
    for each statement execute function desk_usage_after_write();
create or replace trigger desk_usage_delete after delete on token_usage_log
    referencing old table as old_rows for each statement execute function desk_usage_after_write();
create or replace trigger desk_usage_truncate after truncate on token_usage_log
    for each statement execute function desk_usage_after_write();

create or replace function desk_usage_stale() returns boolean
language sql stable set search_path = public, extensions as $$
    select exists (select from desk_meta where key >= 'usage_fault:' and key < 'usage_fault;')
        or (select is_called from desk_usage_faults)
$$;
comment on function desk_usage_stale() is 'Whether a write may be missing in the usage rollup until desk_rebuild_usage has run.';

create or replace function desk_usage_difference() returns setof desk_usage_cell
language plpgsql stable set search_path = public, extensions as $$
#variable_conflict use_column
begin
    -- One statement, so one snapshot of rows and rollup. Lines with a dialog_key are of desk_usage_dialog_hours, lines with a
    -- size below 0 of desk_usage_days (stored as -1 - size), the others of desk_usage_hours.
    return query
    with raw as materialized (select * from desk_raw_usage()),
    signed as (
        select r.hour, r.dialog_key, r.provider, r.model, r.phase, r.size_over, r.calls, r.prompt, r.completion, r.total,
               r.cached, r.cached_in_prompt, r.unattributed from raw r
        union all
        select date_trunc('day', r.hour, 'UTC'), null, r.provider, r.model, r.phase, -1 - r.size_over, r.calls, r.prompt,
               r.completion, r.total, r.cached, r.cached_in_prompt, r.unattributed from raw r
        union all
        select coalesce(date_trunc('hour', u.at::timestamptz, 'UTC'), '-infinity'), coalesce(u.dialog_key, ''), null, null,
               null, null, count(*), 0, 0, sum(coalesce(u.total_tokens, 0)::bigint), 0, 0, 0
        from token_usage_log u group by 1, 2
        union all
        select h.hour, null, h.provider, h.model, h.phase, h.size_over, -h.calls, -h.prompt, -h.completion, -h.total,
               -h.cached, -h.cached_in_prompt, -h.unattributed from desk_usage_hours h
        union all
        select h.hour, null, h.provider, h.model, h.phase, -1 - h.size_over, -h.calls, -h.prompt, -h.completion, -h.total,
               -h.cached, -h.cached_in_prompt, -h.unattributed from desk_usage_days h
        union all
        select h.hour, h.dialog_key, null, null, null, null, -h.calls, 0, 0, -h.total, 0, 0, 0
        from desk_usage_dialog_hours h
    )
    select s.hour, s.dialog_key, s.provider, s.model, s.phase, s.size_over, sum(s.calls)::bigint, sum(s.prompt)::bigint,
           sum(s.completion)::bigint, sum(s.total)::bigint, sum(s.cached)::bigint, sum(s.cached_in_prompt)::bigint,
           sum(s.unattributed)::bigint
    from signed s
    group by 1, 2, 3, 4, 5, 6
    having (sum(s.calls), sum(s.prompt), sum(s.completion), sum(s.total), sum(s.cached), sum(s.cached_in_prompt),
            sum(s.unattributed)) <> (0, 0, 0, 0, 0, 0, 0);
end
$$;
comment on function desk_usage_difference() is 'Rows minus rollup, where they differ, for all three rollup tables.';

create or replace function desk_rebuild_usage() returns json
language plpgsql security definer set search_path = public, extensions, pg_temp
set lock_timeout = '10s' set statement_timeout = '120s' set work_mem = '64MB' as $$
declare
    changed bigint;
begin
    perform pg_advisory_xact_lock(hashtext('desk_rebuild_usage')); -- two at once would both add the difference
    -- First the faults, then the difference: a fault that is visible now belongs to a committed write.
    delete from desk_meta where key >= 'usage_fault:' and key < 'usage_fault;';
    if (select is_called and (last_value < pg_snapshot_xmin(s)::text::bigint or last_value > pg_snapshot_xmax(s)::text::bigint + 1000000)
        from desk_usage_faults, pg_current_snapshot() s) then
        perform setval('desk_usage_faults', 1, false); -- that transaction has ended, or belongs to a restored cluster
    end if;
    drop table if exists pg_temp.desk_usage_found;
    create temp table desk_usage_found on commit drop as select * from desk_usage_difference();
    select count(*) into changed from desk_usage_found;

    -- In order of time, so that the hour that others write now is held shortest.
    insert into desk_usage_dialog_hours as r
    select hour, dialog_key, calls, total from desk_usage_found where dialog_key is not null order by 1, 2
    on conflict (hour, dialog_key) do update set calls = r.calls + excluded.calls, total = r.total + excluded.total;
    insert into desk_usage_hours as r
    select hour, provider, model, phase, size_over, calls, prompt, completion, total, cached, cached_in_prompt, unattributed
    from desk_usage_found where dialog_key is null and size_over >= 0 order by 1, 2, 3, 4, 5
    on conflict (hour, provider, model, phase, size_over) do update set
        calls = r.calls + excluded.calls, prompt = r.prompt + excluded.prompt,
        completion = r.completion + excluded.completion, total = r.total + excluded.total,
        cached = r.cached + excluded.cached, cached_in_prompt = r.cached_in_prompt + excluded.cached_in_prompt,
        unattributed = r.unattributed + excluded.unattributed;
    insert into desk_usage_days as r
    select hour, provider, model, phase, -1 - size_over, calls, prompt, completion, total, cached, cached_in_prompt,
           unattributed
    from desk_usage_found where dialog_key is null and size_over < 0 order by 1, 2, 3, 4, 5
    on conflict (hour, provider, model, phase, size_over) do update set
        calls = r.calls + excluded.calls, prompt = r.prompt + excluded.prompt,
        completion = r.completion + excluded.completion, total = r.total + excluded.total,
        cached = r.cached + excluded.cached, cached_in_prompt = r.cached_in_prompt + excluded.cached_in_prompt,
        unattributed = r.unattributed + excluded.unattributed;

    delete from desk_usage_dialog_hours where calls = 0 and total = 0;
    delete from desk_usage_hours where calls = 0 and prompt = 0 and completion = 0 and total = 0 and cached = 0;
    delete from desk_usage_days where calls = 0 and prompt = 0 and completion = 0 and total = 0 and cached = 0;
    return json_build_object('changed', changed, 'hours', (select count(*) from desk_usage_hours),
                             'stale', desk_usage_stale());
end
$$;
comment on function desk_rebuild_usage() is 'Brings the usage rollup to what the rows say and clears its faults; stops nobody.';

create or replace function desk_check_usage() returns json
language sql stable set search_path = public, extensions set statement_timeout = '120s' set work_mem = '64MB' as $$
    with d as materialized (select * from desk_usage_difference())
    select json_build_object(
        'equal', not exists (select from d),
        'differing', (select coalesce(json_agg(f.hour order by f.hour), '[]')
                      from (select distinct hour from d where isfinite(hour) order by 1 limit 50) f),
        'rows', (select json_build_object('calls', count(*), 'total', coalesce(sum(total_tokens::bigint), 0))
                 from token_usage_log),
        'rollup', (select json_build_object('calls', coalesce(sum(calls), 0), 'total', coalesce(sum(total), 0))
                   from desk_usage_hours),
        'stale', desk_usage_stale())
$$;
comment on function desk_check_usage() is 'Compares the usage rollup with the rows; names at most 50 hours that differ.';

revoke execute on function desk_usage_cells, desk_raw_usage, desk_add_usage, desk_note_usage_fault, desk_usage_after_write,
    desk_usage_stale, desk_usage_difference, desk_rebuild_usage, desk_check_usage from public, anon, authenticated;
grant execute on function desk_usage_cells, desk_raw_usage, desk_usage_stale, desk_usage_difference, desk_rebuild_usage,
    desk_check_usage to service_role;

-- Requests are listed from the rows by time. A table that is small gets the small index for it at once; for a large one the
-- Health page names the statement, as building it would stop the service's writes.
do $$
begin
    if pg_relation_size('token_usage_log') < 16 * 1024 * 1024 then
        create index if not exists token_usage_log_at_idx on token_usage_log using brin (at)
            with (pages_per_range = 32, autosummarize = on);
    end if;
end
$$;
