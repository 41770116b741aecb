-- What was learned from events: counters beside the words, so that confidence is computed and never decays twice.
select set_config('search_path', 'public, extensions', true);

create table if not exists companion_facts (
    id uuid primary key default gen_random_uuid(),
    fact_key text not null check (length(fact_key) between 1 and 200),
    category text not null check (category in ('pattern', 'preference', 'context', 'relationship')),
    content text not null check (length(content) between 1 and 300),
    measured jsonb not null default '{}',
    confirmations integer not null default 1 check (confirmations > 0),
    contradictions integer not null default 0 check (contradictions >= 0),
    first_seen timestamptz not null,
    last_confirmed timestamptz not null,
    last_confirmed_day date not null,
    last_contradicted_day date,
    source_modules text[] not null default '{}',
    source_events uuid[] not null default '{}',
    origin text not null default 'rule' check (origin in ('rule', 'llm', 'feedback')),
    expires_at timestamptz,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    deleted_at timestamptz
);
create unique index if not exists companion_facts_key on companion_facts (fact_key) where deleted_at is null;
comment on table companion_facts is 'Patterns in events, in our own words; never a text of a dialog.';
comment on column companion_facts.measured is 'What the words say in figures: weekdays, hours, an average. A later look compares with it.';

alter table companion_facts enable row level security;
revoke all on companion_facts from public, anon, authenticated;
grant all on companion_facts to service_role;

create or replace function companion_fact_learn(p_fact jsonb, p_now timestamptz, p_day date, p_event jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    f companion_facts;
    was companion_facts;
    modules text[] := array(select jsonb_array_elements_text(coalesce(p_fact -> 'source_modules', '[]')));
    seen uuid[] := array(select value::uuid from jsonb_array_elements_text(coalesce(p_fact -> 'source_events', '[]')));
begin
    for i in 1 .. 5 loop
        insert into companion_facts (fact_key, category, content, measured, first_seen, last_confirmed, last_confirmed_day,
                                     source_modules, source_events, origin, expires_at)
        values (p_fact ->> 'fact_key', p_fact ->> 'category', p_fact ->> 'content', coalesce(p_fact -> 'measured', '{}'),
                p_now, p_now, p_day, modules, seen[greatest(1, cardinality(seen) - 19):],
                coalesce(p_fact ->> 'origin', 'rule'), (p_fact ->> 'expires_at')::timestamptz)
        on conflict (fact_key) where deleted_at is null do nothing
        returning * into f;
        if found then
            perform companion_append_events(jsonb_build_array(
                jsonb_set(p_event, '{payload,fact_id}', to_jsonb(f.id::text))));
            return json_build_object('outcome', 'learned', 'fact', row_to_json(f));
        end if;
        select * into was from companion_facts x where x.fact_key = p_fact ->> 'fact_key' and x.deleted_at is null for update;
        if found then
            update companion_facts x set
                content = p_fact ->> 'content', measured = coalesce(p_fact -> 'measured', '{}'),
                source_modules = array(select distinct m from unnest(x.source_modules || modules) m order by m),
                source_events = coalesce((select (array_agg(e order by n))[greatest(1, count(*)::int - 19):]
                                          from (select e, max(n) as n from unnest(x.source_events || seen) with ordinality u (e, n)
                                                group by e) d), '{}'),
                -- At most one a day, however often somebody looks.
                confirmations = x.confirmations + case when x.last_confirmed_day < p_day then 1 else 0 end,
                last_confirmed = case when x.last_confirmed_day < p_day then p_now else x.last_confirmed end,
                last_confirmed_day = greatest(x.last_confirmed_day, p_day),
                updated_at = clock_timestamp()
            where x.id = was.id returning * into f;
            return json_build_object(
                'outcome', case when f.confirmations > was.confirmations then 'confirmed' else 'same' end,
                'fact', row_to_json(f));
        end if;
        -- It was forgotten between the two statements: then it is learned anew.
    end loop;
    raise exception 'the fact could not be learned' using errcode = '40001';
end
$$;
comment on function companion_fact_learn(jsonb, timestamptz, date, jsonb) is
    'Learns a fact or confirms it, once a day. outcome: learned (with its event), confirmed or same.';

create or replace function companion_fact_judge(
    p_id uuid, p_verdict text, p_now timestamptz, p_day date, p_by_rule boolean, p_event jsonb
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    f companion_facts;
begin
    update companion_facts x set
        confirmations = x.confirmations + (p_verdict = 'confirmed')::int,
        contradictions = x.contradictions + (p_verdict = 'contradicted')::int,
        last_confirmed = case when p_verdict = 'confirmed' then p_now else x.last_confirmed end,
        last_confirmed_day = case when p_verdict = 'confirmed' then greatest(x.last_confirmed_day, p_day) else x.last_confirmed_day end,
        last_contradicted_day = case when p_verdict = 'contradicted' then p_day else x.last_contradicted_day end,
        deleted_at = case when p_verdict = 'deleted' then p_now when p_verdict = 'restored' then null else x.deleted_at end,
        updated_at = clock_timestamp()
    where x.id = p_id and (x.deleted_at is null) = (p_verdict <> 'restored')
      and (p_verdict <> 'confirmed' or x.last_confirmed_day < p_day)
      and (p_verdict <> 'contradicted' or not p_by_rule or x.last_contradicted_day is distinct from p_day)
      and (p_verdict <> 'restored' or not exists (
          select 1 from companion_facts y where y.fact_key = x.fact_key and y.deleted_at is null))
    returning * into f;
    if f.id is null then
        return json_build_object('outcome', 'unchanged', 'fact', null);
    end if;
    if p_event is not null then
        perform companion_append_events(jsonb_build_array(p_event));
    end if;
    return json_build_object('outcome', p_verdict, 'fact', row_to_json(f));
end
$$;
comment on function companion_fact_judge(uuid, text, timestamptz, date, boolean, jsonb) is
    'Confirms (once a day), contradicts (a rule once a day), deletes or restores a fact. outcome: the verdict, or unchanged.';

create or replace function companion_fact_list() returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(row_to_json(f) order by f.fact_key), '[]') from companion_facts f where f.deleted_at is null
$$;
comment on function companion_fact_list() is 'Every fact that is known; there are few.';

-- When events of a type happen: what every extractor looks at, by local day and hour.
create or replace function companion_event_pattern(
    p_type text, p_where jsonb, p_since date, p_until date, p_zone text
) returns json
language sql stable set search_path = public, extensions set statement_timeout = '10s' as $$
    with found as materialized (
        select e.event_id, e.seq, companion_event_day(e.payload, e.ts, p_zone) as day,
               -- The moment that the entry itself names, else that of the event.
               case when e.payload ->> 'start_time' ~ '^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$'
                        then (e.payload ->> 'start_time')::timestamptz at time zone p_zone
                    when e.payload ->> 'date' ~ '^\d{4}-\d\d-\d\d$' and e.payload ->> 'time' ~ '^[0-2]\d:[0-5]\d(:[0-5]\d)?$'
                        then companion_event_day(e.payload, e.ts, p_zone) + (e.payload ->> 'time')::time
                    else e.ts at time zone p_zone end as here
        from companion_events e
        where e.type = p_type
          and e.ts >= (p_since - 1)::timestamp at time zone p_zone and e.ts < (p_until + 2)::timestamp at time zone p_zone
          and not exists (select 1 from jsonb_each_text(coalesce(p_where, '{}')) w where e.payload ->> w.key is distinct from w.value)
    ), inside as (
        select * from found where day between p_since and p_until
    )
    select json_build_object(
        'hours', (select coalesce(json_agg(json_build_array(day, hour, n) order by day, hour), '[]')
                  from (select day, extract(hour from here)::int as hour, count(*) as n from inside group by 1, 2) h),
        'first', (select coalesce(json_object_agg(day, at), '{}')
                  from (select day, to_char(min(here), 'HH24:MI:SS.US') as at from inside where here::date = day group by day) d),
        'events', (select coalesce(json_agg(event_id order by seq), '[]')
                   from (select event_id, seq from inside order by seq desc limit 20) l))
$$;
comment on function companion_event_pattern(text, jsonb, date, date, text) is
    'Events of a type by local day and hour, the first of each day, and the latest 20 ids.';

revoke execute on function companion_fact_learn, companion_fact_judge, companion_fact_list, companion_event_pattern
    from public, anon, authenticated;
grant execute on function companion_fact_learn, companion_fact_judge, companion_fact_list, companion_event_pattern
    to service_role;

notify pgrst, 'reload schema';
