-- Goals: what is counted, towards what, in which period. Each event that counts leaves one entry per goal, so that a second
-- delivery counts nothing and a forgotten one can be found again in companion_events; values are sums of entries.
select set_config('search_path', 'public, extensions', true);

create table if not exists companion_goals (
    id uuid primary key default gen_random_uuid(),
    title text not null check (length(title) between 1 and 60),
    description text check (length(description) <= 500),
    module text not null,
    linked_modules text[] not null default '{}',
    template_id text,
    metric jsonb not null check (metric ->> 'source' in ('event_count', 'event_sum', 'streak_days', 'custom')),
    target jsonb not null check (target ->> 'period' in ('day', 'week', 'month')
                                 and target ->> 'comparison' in ('gte', 'lte', 'eq')
                                 and jsonb_typeof(target -> 'value') = 'number'),
    status text not null default 'active' check (status in ('active', 'paused', 'completed', 'abandoned')),
    current_value numeric,
    period_start date not null,
    zone text not null,
    counted_from timestamptz not null default now(),
    recounted_at timestamptz,
    last_actor jsonb not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    deleted_at timestamptz
);
comment on table companion_goals is 'What somebody wants to reach or to keep, per day, week or month.';
comment on column companion_goals.current_value is 'Of the period that begins at period_start; null: not known (named metrics and streaks).';
comment on column companion_goals.zone is 'The time zone in which the current period is counted.';
comment on column companion_goals.counted_from is 'Events before it are not looked for again: a goal does not move while it is paused.';
comment on column companion_goals.recounted_at is 'Events stored well before it are counted; null: look at the whole period.';
create unique index if not exists companion_goals_active_title on companion_goals (lower(title))
    where status = 'active' and deleted_at is null;

create table if not exists companion_goal_periods (
    goal_id uuid not null references companion_goals (id) on delete cascade,
    period_start date not null,
    period_end date not null,
    value numeric,
    reached boolean,
    reached_at timestamptz,
    exceeded_at timestamptz,
    closed_at timestamptz,
    zone text not null,
    primary key (goal_id, period_start)
);
comment on table companion_goal_periods is
    'One row per goal and period: written when it is reached or exceeded, for which it stands once, and when the period ends.';
comment on column companion_goal_periods.period_end is 'The last day of the period.';
comment on column companion_goal_periods.reached is 'At the end of the period; null: not judged, as the value was not known or the goal was paused.';

create table if not exists companion_goal_entries (
    goal_id uuid not null references companion_goals (id) on delete cascade,
    event_id uuid not null,
    period_start date not null,
    amount numeric not null,
    key text,
    at timestamptz not null,
    primary key (goal_id, event_id)
);
create index if not exists companion_goal_entries_period_idx on companion_goal_entries (goal_id, period_start, key);
comment on table companion_goal_entries is 'What each event added to a goal; kept for a week after its period.';
comment on column companion_goal_entries.key is 'Hash of the field whose different values are counted.';

alter table companion_goals enable row level security;
alter table companion_goal_periods enable row level security;
alter table companion_goal_entries enable row level security;
revoke all on companion_goals, companion_goal_periods, companion_goal_entries from public, anon, authenticated;
grant all on companion_goals, companion_goal_periods, companion_goal_entries to service_role;

create or replace function companion_period_start(p_day date, p_period text) returns date
language sql immutable set search_path = public, extensions as $$
    select case p_period when 'day' then p_day else date_trunc(p_period, p_day::timestamp)::date end
$$;
comment on function companion_period_start(date, text) is 'The first day of the day, week (Monday) or month of a day.';

create or replace function companion_period_next(p_start date, p_period text) returns date
language sql immutable set search_path = public, extensions as $$
    select (p_start + ('1 ' || p_period)::interval)::date
$$;
comment on function companion_period_next(date, text) is 'The first day of the period after the one that begins there.';

create or replace function companion_event_day(p_payload jsonb, p_ts timestamptz, p_zone text) returns date
language plpgsql stable set search_path = public, extensions as $$
begin
    if p_payload ->> 'date' ~ '^\d{4}-\d\d-\d\d$' then
        return (p_payload ->> 'date')::date;
    end if;
    return (p_ts at time zone p_zone)::date;
exception when datetime_field_overflow or invalid_datetime_format then
    return (p_ts at time zone p_zone)::date;
end
$$;
comment on function companion_event_day(jsonb, timestamptz, text) is
    'The day an event counts for: the `date` of its payload, else its moment in the zone.';

create or replace function companion_goal_amount(p_metric jsonb, p_type text, p_payload jsonb) returns numeric
language sql immutable set search_path = public, extensions as $$
    select case
        when p_metric ->> 'source' not in ('event_count', 'event_sum') then null
        when p_metric ->> 'filter_field' is not null
             and p_payload ->> (p_metric ->> 'filter_field') is distinct from p_metric ->> 'filter_value' then null
        when p_metric -> 'events' ? p_type then 1
        when p_metric -> 'minus' ? p_type then -1
    end * case
        when p_metric ->> 'source' = 'event_count' then 1
        when p_payload ->> (p_metric ->> 'sum_field') ~ '^-?\d{1,15}(\.\d{1,10})?$'
            then (p_payload ->> (p_metric ->> 'sum_field'))::numeric
        else 0
    end
$$;
comment on function companion_goal_amount(jsonb, text, jsonb) is
    'What an event adds to a metric, negative for one that takes back; null where it is none of its events.';

create or replace function companion_goal_key(p_goal uuid, p_metric jsonb, p_payload jsonb) returns text
language sql immutable set search_path = public, extensions as $$
    select case when p_metric ->> 'distinct_field' is not null then
        encode(sha256(convert_to(p_goal::text || coalesce(p_payload ->> (p_metric ->> 'distinct_field'), ''), 'UTF8')), 'hex') end
$$;
comment on function companion_goal_key(uuid, jsonb, jsonb) is 'The hash under which a different value is counted once.';

create or replace function companion_goal_value(p_goal uuid, p_start date, p_metric jsonb) returns numeric
language sql stable set search_path = public, extensions as $$
    select case
        when p_metric ->> 'source' not in ('event_count', 'event_sum') then null
        when p_metric ->> 'distinct_field' is not null then (
            select count(*) from (
                select 1 from companion_goal_entries e where e.goal_id = p_goal and e.period_start = p_start
                group by e.key having sum(e.amount) > 0) k)
        else (select coalesce(sum(e.amount), 0) from companion_goal_entries e
              where e.goal_id = p_goal and e.period_start = p_start)
    end
$$;
comment on function companion_goal_value(uuid, date, jsonb) is 'The value of a period by its entries; null for named metrics.';

create or replace function companion_goal_meets(p_value numeric, p_target jsonb) returns boolean
language sql immutable set search_path = public, extensions as $$
    select case p_target ->> 'comparison'
        when 'gte' then p_value >= (p_target ->> 'value')::numeric
        when 'lte' then p_value <= (p_target ->> 'value')::numeric
        else p_value = (p_target ->> 'value')::numeric end
$$;
comment on function companion_goal_meets(numeric, jsonb) is 'Whether a value is what the target asks; null for an unknown one.';

-- The one row per goal and period decides who says it; the event is stored in the same transaction.
create or replace function companion_goal_mark(
    p_goal companion_goals, p_start date, p_value numeric, p_kind text, p_mark jsonb
) returns jsonb
language plpgsql set search_path = public, extensions as $$
declare
    period text := p_goal.target ->> 'period';
    ends date := companion_period_next(p_start, period) - 1;
    event jsonb;
begin
    insert into companion_goal_periods as p (goal_id, period_start, period_end, value, zone, reached_at, exceeded_at)
    values (p_goal.id, p_start, ends, p_value, p_goal.zone,
            case when p_kind = 'GoalReached' then (p_mark ->> 'ts')::timestamptz end,
            case when p_kind = 'GoalExceeded' then (p_mark ->> 'ts')::timestamptz end)
    on conflict (goal_id, period_start) do update
        set reached_at = coalesce(p.reached_at, excluded.reached_at), exceeded_at = coalesce(p.exceeded_at, excluded.exceeded_at)
        where (excluded.reached_at is not null and p.reached_at is null)
           or (excluded.exceeded_at is not null and p.exceeded_at is null);
    if not found then
        return '[]';
    end if;
    event := p_mark || jsonb_build_object(
        'event_id', md5(p_goal.id::text || p_start || p_kind)::uuid, 'type', p_kind, 'record_id', p_goal.id,
        'payload', jsonb_build_object(
            'goal_id', p_goal.id, 'title', p_goal.title, 'value', p_value, 'target', p_goal.target -> 'value',
            'period', period, 'period_start', p_start));
    perform companion_append_events(jsonb_build_array(event));
    return jsonb_build_array(event);
end
$$;
comment on function companion_goal_mark(companion_goals, date, numeric, text, jsonb) is
    'Says once that a goal was reached or exceeded in a period: the row and its event; [] where it was said before.';

create or replace function companion_goal_judge(p_goal companion_goals, p_mark jsonb) returns jsonb
language sql set search_path = public, extensions as $$
    select case
        when p_goal.target ->> 'comparison' = 'gte' and companion_goal_meets(p_goal.current_value, p_goal.target)
            then companion_goal_mark(p_goal, p_goal.period_start, p_goal.current_value, 'GoalReached', p_mark)
        when p_goal.target ->> 'comparison' = 'lte' and not companion_goal_meets(p_goal.current_value, p_goal.target)
            then companion_goal_mark(p_goal, p_goal.period_start, p_goal.current_value, 'GoalExceeded', p_mark)
        else '[]'::jsonb end
$$;
comment on function companion_goal_judge(companion_goals, jsonb) is 'What the value of a period that still runs has to say.';

-- A period begins where the one before ended, also where nothing happened in it. Never backwards: a zone further west
-- would otherwise celebrate a day twice.
create or replace function companion_goal_roll_one(p_id uuid, p_day date, p_zone text, p_mark jsonb) returns jsonb
language plpgsql set search_path = public, extensions as $$
declare
    g companion_goals;
    begins date;
    events jsonb := '[]';
    met boolean;
    comparison text;
begin
    select * into g from companion_goals where id = p_id for update;
    if g.id is null or g.status <> 'active' or g.deleted_at is not null then
        return events;
    end if;
    begins := companion_period_start(p_day, g.target ->> 'period');
    comparison := g.target ->> 'comparison';
    if g.period_start >= begins then
        return events;
    end if;
    while g.period_start < begins loop
        met := companion_goal_meets(g.current_value, g.target);
        if met then
            events := events || companion_goal_mark(g, g.period_start, g.current_value, 'GoalReached', p_mark);
        end if;
        insert into companion_goal_periods as p (goal_id, period_start, period_end, value, reached, closed_at, zone)
        values (g.id, g.period_start, companion_period_next(g.period_start, g.target ->> 'period') - 1, g.current_value, met,
                (p_mark ->> 'ts')::timestamptz, g.zone)
        on conflict (goal_id, period_start) do update
            set value = excluded.value, reached = excluded.reached, closed_at = excluded.closed_at;
        g.period_start := companion_period_next(g.period_start, g.target ->> 'period');
        g.zone := p_zone;
        g.current_value := companion_goal_value(g.id, g.period_start, g.metric);
    end loop;
    update companion_goals set period_start = g.period_start, zone = g.zone, current_value = g.current_value, recounted_at = null
    where id = g.id;
    -- What was entered ahead for the new period may reach it at once.
    return events || companion_goal_judge(g, p_mark);
end
$$;
comment on function companion_goal_roll_one(uuid, date, text, jsonb) is 'Closes the periods of a goal that are over; the events it stored.';

create or replace function companion_goal_roll(p_day date, p_zone text, p_mark jsonb) returns json
language plpgsql set search_path = public, extensions set statement_timeout = '60s' as $$
declare
    one uuid;
    events jsonb := '[]';
begin
    for one in select x.id from companion_goals x
              where x.status = 'active' and x.deleted_at is null
                and x.period_start < companion_period_start(p_day, x.target ->> 'period') order by x.id loop
        events := events || companion_goal_roll_one(one, p_day, p_zone, p_mark);
    end loop;
    delete from companion_goal_entries e using companion_goals g
    where g.id = e.goal_id and e.period_start < g.period_start and e.at < (p_mark ->> 'ts')::timestamptz - interval '7 days';
    return json_build_object('events', events);
end
$$;
comment on function companion_goal_roll(date, text, jsonb) is 'Closes every period that is over and forgets its old entries.';

create or replace function companion_goal_increment(p_event jsonb, p_day date, p_zone text, p_mark jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    g companion_goals;
    one uuid;
    added numeric;
    begins date;
    events jsonb := '[]';
    moved integer := 0;
    kind text := p_event ->> 'type';
    payload jsonb := coalesce(p_event -> 'payload', '{}');
begin
    for one in select x.id from companion_goals x
              where x.status = 'active' and x.deleted_at is null
                and companion_goal_amount(x.metric, kind, payload) is not null order by x.id loop
        events := events || companion_goal_roll_one(one, p_day, p_zone, p_mark);
        -- Locked since: a second event waits for the first, and none is lost.
        select * into g from companion_goals x where x.id = one for update;
        continue when g.status <> 'active' or g.deleted_at is not null;
        added := companion_goal_amount(g.metric, kind, payload);
        continue when added is null;
        begins := companion_period_start(companion_event_day(payload, (p_event ->> 'ts')::timestamptz, p_zone), g.target ->> 'period');
        if begins = companion_period_start(p_day, g.target ->> 'period') then
            begins := greatest(begins, g.period_start);
        end if;
        insert into companion_goal_entries (goal_id, event_id, period_start, amount, key, at)
        values (g.id, (p_event ->> 'event_id')::uuid, begins, added, companion_goal_key(g.id, g.metric, payload),
                (p_event ->> 'ts')::timestamptz)
        on conflict do nothing;
        continue when not found;
        moved := moved + 1;
        if begins = g.period_start then
            g.current_value := case when g.metric ->> 'distinct_field' is null then coalesce(g.current_value, 0) + added
                                    else companion_goal_value(g.id, begins, g.metric) end;
            update companion_goals x set current_value = g.current_value, updated_at = clock_timestamp() where x.id = g.id;
            events := events || companion_goal_judge(g, p_mark);
        elsif begins < g.period_start then
            -- Late, for a period that is over: its row is put right. It is news only where it is the last one.
            update companion_goal_periods p
            set value = case when g.metric ->> 'distinct_field' is null then coalesce(p.value, 0) + added else p.value end
            where p.goal_id = g.id and p.period_start = begins returning p.value into added;
            if found then
                update companion_goal_periods p set reached = companion_goal_meets(p.value, g.target)
                where p.goal_id = g.id and p.period_start = begins and p.reached is not null;
                if g.target ->> 'comparison' = 'gte' and companion_goal_meets(added, g.target)
                   and companion_period_next(begins, g.target ->> 'period') = g.period_start then
                    events := events || companion_goal_mark(g, begins, added, 'GoalReached', p_mark);
                end if;
            end if;
        end if;
    end loop;
    return json_build_object('moved', moved, 'events', events);
end
$$;
comment on function companion_goal_increment(jsonb, date, text, jsonb) is
    'Counts an event for every active goal that it concerns, once; the events that this led to.';

create or replace function companion_goal_set(
    p_id uuid, p_start date, p_value numeric, p_day date, p_zone text, p_mark jsonb
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    g companion_goals;
    events jsonb;
begin
    -- The value of a day that is over comes before that day is closed.
    update companion_goals x set current_value = p_value
    where x.id = p_id and x.status = 'active' and x.deleted_at is null and x.period_start = p_start
      and x.metric ->> 'source' in ('streak_days', 'custom');
    events := companion_goal_roll_one(p_id, p_day, p_zone, p_mark);
    select * into g from companion_goals x where x.id = p_id and x.status = 'active' and x.deleted_at is null for update;
    if g.id is not null then
        events := events || companion_goal_judge(g, p_mark);
    end if;
    return json_build_object('events', events);
end
$$;
comment on function companion_goal_set(uuid, date, numeric, date, text, jsonb) is
    'The value of a named metric or a streak in the period that begins at p_start.';

create or replace function companion_goal_recount(p_day date, p_zone text, p_mark jsonb, p_id uuid default null) returns json
language plpgsql set search_path = public, extensions set statement_timeout = '60s' as $$
declare
    g companion_goals;
    one uuid;
    found_now numeric;
    events jsonb := '[]';
    changed integer := 0;
begin
    for one in select x.id from companion_goals x
              where x.status = 'active' and x.deleted_at is null and x.metric ->> 'source' in ('event_count', 'event_sum')
                and (p_id is null or x.id = p_id) order by x.id loop
        events := events || companion_goal_roll_one(one, p_day, p_zone, p_mark);
        select * into g from companion_goals x where x.id = one for update;
        insert into companion_goal_entries (goal_id, event_id, period_start, amount, key, at)
        select g.id, e.event_id, g.period_start, companion_goal_amount(g.metric, e.type, e.payload),
               companion_goal_key(g.id, g.metric, e.payload), e.ts
        from companion_events e
        where e.type in (select jsonb_array_elements_text((g.metric -> 'events') || coalesce(g.metric -> 'minus', '[]')))
          and e.ts >= greatest(g.counted_from, (g.period_start - 1)::timestamp at time zone g.zone)
          and (g.recounted_at is null or e.created_at > g.recounted_at - interval '5 minutes')
          and companion_goal_amount(g.metric, e.type, e.payload) is not null
          and companion_period_start(companion_event_day(e.payload, e.ts, g.zone), g.target ->> 'period') = g.period_start
        on conflict do nothing;
        update companion_goals x set recounted_at = clock_timestamp() where x.id = g.id;
        found_now := companion_goal_value(g.id, g.period_start, g.metric);
        if found_now is distinct from g.current_value then
            changed := changed + 1;
            g.current_value := found_now;
            update companion_goals x set current_value = found_now where x.id = g.id;
        elsif p_id is null then
            continue;
        end if;
        -- Of one goal also where its value is the same: its target may be another.
        events := events || companion_goal_judge(g, p_mark);
    end loop;
    return json_build_object('changed', changed, 'events', events);
end
$$;
comment on function companion_goal_recount(date, text, jsonb, uuid) is
    'Counts stored events that nobody counted: a process that died, or rows of another writer.';

create or replace function companion_goal_preview(p_metric jsonb, p_period text, p_day date, p_zone text) returns json
language sql stable set search_path = public, extensions set statement_timeout = '10s' as $$
    with found as (
        select companion_goal_amount(p_metric, e.type, e.payload) as amount, e.payload ->> (p_metric ->> 'distinct_field') as key
        from companion_events e
        where e.type in (select jsonb_array_elements_text((p_metric -> 'events') || coalesce(p_metric -> 'minus', '[]')))
          and e.ts >= (companion_period_start(p_day, p_period) - 1)::timestamp at time zone p_zone
          and companion_period_start(companion_event_day(e.payload, e.ts, p_zone), p_period) = companion_period_start(p_day, p_period)
    ), counted as (
        select amount, key from found where amount is not null
    )
    select json_build_object(
        'value', case when p_metric ->> 'distinct_field' is null then (select coalesce(sum(amount), 0) from counted)
                      else (select count(*) from (select 1 from counted group by key having sum(amount) > 0) k) end,
        'events', (select count(*) from counted))
$$;
comment on function companion_goal_preview(jsonb, text, date, text) is 'What a metric would be in the period of a day, by the stored events.';
