-- Every call to a language model, without any of its content: what it was for, which tier answered, what it took.
create table if not exists companion_ai_runs (
    id uuid primary key default gen_random_uuid(),
    at timestamptz not null default now(),
    task text not null check (length(task) between 1 and 60),
    tier text not null check (tier in ('rules', 'server', 'cloud')),
    model text,
    class text not null check (class in ('public', 'personal', 'sensitive')),
    prompt_tokens bigint not null default 0 check (prompt_tokens >= 0),
    completion_tokens bigint not null default 0 check (completion_tokens >= 0),
    latency_ms double precision not null default 0,
    outcome text not null check (length(outcome) between 1 and 60),
    mission_id text
);
create index if not exists companion_ai_runs_at on companion_ai_runs (at desc);
create index if not exists companion_ai_runs_mission on companion_ai_runs (mission_id, at desc) where mission_id is not null;
alter table companion_ai_runs enable row level security;
revoke all on companion_ai_runs from anon, authenticated;

create or replace function companion_log_ai_run(p_run jsonb) returns json
language sql set search_path = public, extensions as $$
    insert into companion_ai_runs
        (at, task, tier, model, class, prompt_tokens, completion_tokens, latency_ms, outcome, mission_id)
    values (coalesce((p_run ->> 'at')::timestamptz, now()), p_run ->> 'task', p_run ->> 'tier', p_run ->> 'model',
            p_run ->> 'class', coalesce((p_run ->> 'prompt_tokens')::bigint, 0),
            coalesce((p_run ->> 'completion_tokens')::bigint, 0), coalesce((p_run ->> 'latency_ms')::float8, 0),
            p_run ->> 'outcome', p_run ->> 'mission_id')
    returning json_build_object('id', id)
$$;
comment on function companion_log_ai_run(jsonb) is 'Keeps one call to a model, without its content.';

create or replace function companion_ai_tokens(p_since timestamptz, p_mission_id text default null) returns json
language sql stable set search_path = public, extensions as $$
    select json_build_object('tokens', coalesce(sum(prompt_tokens + completion_tokens), 0), 'calls', count(*))
    from companion_ai_runs
    where at >= p_since and (p_mission_id is null or mission_id = p_mission_id)
$$;
comment on function companion_ai_tokens(timestamptz, text) is 'Tokens and calls of models since a moment, of one mission or of all.';

create or replace function companion_ai_usage(p_since timestamptz, p_until timestamptz, p_tz text default 'UTC') returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(json_build_object(
        'day', day, 'task', task, 'tier', tier, 'model', model, 'outcome', outcome, 'calls', calls,
        'prompt_tokens', prompt, 'completion_tokens', completion, 'latency_ms', latency)
        order by day, task, tier, model, outcome), '[]')
    from (select (at at time zone p_tz)::date as day, task, tier, model, outcome, count(*) as calls,
                 sum(prompt_tokens) as prompt, sum(completion_tokens) as completion, avg(latency_ms) as latency
          from companion_ai_runs where at >= p_since and at < p_until
          group by 1, 2, 3, 4, 5) totals
$$;
comment on function companion_ai_usage(timestamptz, timestamptz, text) is 'Calls of models by local day, task, tier, model and outcome.';

create or replace function companion_prune_ai_runs(p_days int) returns json
language sql set search_path = public, extensions as $$
    with gone as (delete from companion_ai_runs where at < now() - make_interval(days => p_days) returning 1)
    select json_build_object('deleted', count(*)) from gone
$$;
comment on function companion_prune_ai_runs(int) is 'Deletes records of calls older than so many days.';

-- Whether a word is an id or a name of somebody whom the memory knows. The answer is a yes or no about all words
-- together, so that nothing can be looked up with it.
create or replace function companion_names_people(p_words text[]) returns json
language sql stable set search_path = public, extensions as $$
    select json_build_object('known',
        exists (select from desk_dialogs d
                where lower(d.ru_id) = any (p_words) or lower(d.tu_id) = any (p_words)
                   or lower(d.favorite_id) = any (p_words) or lower(d.dialog_key) = any (p_words))
        or exists (select from client_memory_chunks c
                   where c.source = 'profile' and c.text like 'Name: %'
                     and regexp_split_to_array(lower(substr(c.text, 7)), '[^[:alnum:]]+') && p_words))
$$;
comment on function companion_names_people(text[]) is 'Whether one of these words, in lower case, is an id or a name in the memory.';

revoke execute on function companion_log_ai_run, companion_ai_tokens, companion_ai_usage, companion_prune_ai_runs,
    companion_names_people from public, anon, authenticated;
grant execute on function companion_log_ai_run, companion_ai_tokens, companion_ai_usage, companion_prune_ai_runs,
    companion_names_people to service_role;

notify pgrst, 'reload schema';
