-- Long work as a row: it survives a closed tab and a restart, and several processes share it. A process takes a job by a lease
-- that it keeps alive; every write names the claim, so that a process whose lease was taken away (asleep, cut off, a clock that
-- was moved) changes nothing any more. All times are the database's own.
select set_config('search_path', 'public, extensions', true);

create table if not exists desk_jobs (
    id uuid primary key default gen_random_uuid(),
    kind text not null check (kind <> ''),
    key text,
    place text,
    state text not null default 'queued'
        check (state in ('queued', 'running', 'cancelling', 'cancelled', 'failed', 'done')),
    done bigint not null default 0 check (done >= 0),
    total bigint not null default 0 check (total >= 0),
    message text not null default '' check (length(message) <= 200),
    params jsonb not null default '{}',
    cursor jsonb not null default '{}',
    result jsonb,
    error jsonb,
    actor jsonb not null,
    lease_owner text,
    lease_until timestamptz,
    heartbeat timestamptz,
    attempts integer not null default 0,
    claimed_at timestamptz,
    claimed_done bigint not null default 0,
    created_at timestamptz not null default now(),
    started_at timestamptz,
    finished_at timestamptz
);
comment on table desk_jobs is 'Long work with its progress. Holds counts, hashes and keys, never a text or a name of a file.';
comment on column desk_jobs.key is 'Of the jobs with one key at most one is alive: a second press finds the first.';
comment on column desk_jobs.place is 'The data folder that holds what the job needs; null where any process can do it.';
comment on column desk_jobs.lease_until is 'Until then the job belongs to lease_owner; of a queued job: not before.';
comment on column desk_jobs.attempts is 'Claims since the job last got on; reset with every saved cursor.';
comment on column desk_jobs.claimed_done is '`done` when the present claim began: the rate counts from there.';
create unique index if not exists desk_jobs_live_key on desk_jobs (key)
    where key is not null and state in ('queued', 'running', 'cancelling');
create index if not exists desk_jobs_live_idx on desk_jobs (created_at, id) where state in ('queued', 'running', 'cancelling');
create index if not exists desk_jobs_created_at_idx on desk_jobs (created_at desc, id desc);

alter table desk_jobs enable row level security;
revoke all on desk_jobs from public, anon, authenticated;
grant all on desk_jobs to service_role;

-- Nobody works on it: never claimed, or the lease is over. A heartbeat from the future means that the clock was set back;
-- without the second half such a job would wait for hours.
create or replace function desk_job_is_free(j desk_jobs) returns boolean
language sql stable set search_path = public, extensions as $$
    select j.lease_until is null or j.lease_until < clock_timestamp()
        or (j.state <> 'queued' and j.heartbeat > clock_timestamp() + interval '1 minute')
$$;
comment on function desk_job_is_free(desk_jobs) is 'Whether a job that is alive has nobody who works on it now.';

-- The id comes from whoever asks, made when the form was drawn: asked twice, one job.
create or replace function desk_start_job(
    p_id uuid, p_kind text, p_key text, p_params jsonb, p_actor jsonb, p_place text default null
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    j desk_jobs;
begin
    for i in 1 .. 5 loop
        insert into desk_jobs (id, kind, key, params, actor, place)
        values (coalesce(p_id, gen_random_uuid()), p_kind, p_key, coalesce(p_params, '{}'), p_actor, p_place)
        on conflict do nothing
        returning * into j;
        if found then
            return json_build_object('outcome', 'started', 'job', row_to_json(j));
        end if;
        select * into j from desk_jobs where id = p_id;
        if found then
            return json_build_object('outcome', 'same', 'job', row_to_json(j));
        end if;
        select * into j from desk_jobs where key = p_key and state in ('queued', 'running', 'cancelling');
        if found then
            return json_build_object('outcome', 'busy', 'job', row_to_json(j));
        end if;
        -- It ended between the two statements: then there is room now.
    end loop;
    raise exception 'the job could not be started' using errcode = '40001';
end
$$;
comment on function desk_start_job is 'Starts a job. outcome: started, same (this id was there) or busy (the key is taken by that job).';

create or replace function desk_claim_job(
    p_owner text, p_kinds text[], p_place text, p_lease_s integer, p_id uuid default null, p_max_attempts integer default 5
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    j desk_jobs;
begin
    if coalesce(p_owner, '') = '' or p_lease_s is null or p_lease_s < 1 then
        raise exception 'p_owner and p_lease_s are needed' using errcode = '22023';
    end if;
    -- What ends every process that takes it must not do so for ever.
    update desk_jobs d set state = 'failed', finished_at = clock_timestamp(), lease_owner = null, lease_until = null,
        error = jsonb_build_object('code', 'gave_up', 'attempts', d.attempts)
    where d.id in (
        select x.id from desk_jobs x
        where x.state in ('queued', 'running') and x.attempts >= p_max_attempts and desk_job_is_free(x)
        for update skip locked);
    update desk_jobs d set
        state = case when d.state = 'queued' then 'running' else d.state end,
        lease_owner = p_owner, lease_until = clock_timestamp() + make_interval(secs => p_lease_s),
        heartbeat = clock_timestamp(), attempts = d.attempts + 1, claimed_at = clock_timestamp(), claimed_done = d.done,
        started_at = coalesce(d.started_at, clock_timestamp())
    where d.id = (
        select x.id from desk_jobs x
        where x.state in ('queued', 'running', 'cancelling') and desk_job_is_free(x)
          and x.kind = any (p_kinds) and (x.place is null or x.place = p_place) and (p_id is null or x.id = p_id)
        order by x.created_at, x.id
        limit 1 for update skip locked)
    returning * into j;
    return case when j.id is null then null else row_to_json(j) end;
end
$$;
comment on function desk_claim_job is 'The oldest job that nobody works on, now leased to p_owner; null where there is none.';

create or replace function desk_beat_job(
    p_id uuid, p_owner text, p_lease_s integer, p_done bigint default null, p_total bigint default null,
    p_message text default null, p_cursor jsonb default null
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    j desk_jobs;
begin
    update desk_jobs d set
        heartbeat = clock_timestamp(), lease_until = clock_timestamp() + make_interval(secs => p_lease_s),
        done = coalesce(p_done, d.done), total = coalesce(p_total, d.total),
        message = coalesce(left(p_message, 200), d.message), cursor = coalesce(p_cursor, d.cursor),
        attempts = case when p_cursor is null then d.attempts else 0 end
    where d.id = p_id and d.lease_owner = p_owner and d.state in ('running', 'cancelling')
    returning * into j;
    return json_build_object('held', j.id is not null, 'state', coalesce(j.state, (select state from desk_jobs where id = p_id)));
end
$$;
comment on function desk_beat_job is 'Keeps a lease alive and notes progress; held is false once the job is no longer this owner''s.';

create or replace function desk_finish_job(
    p_id uuid, p_owner text, p_state text, p_done bigint default null, p_total bigint default null,
    p_message text default null, p_result jsonb default null, p_error jsonb default null, p_wait_s integer default null
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    j desk_jobs;
begin
    if p_state not in ('queued', 'cancelled', 'failed', 'done') then
        raise exception 'a job does not end as %', p_state using errcode = '22023';
    end if;
    -- Back into the queue keeps what was asked meanwhile: a job that is being cancelled stays so.
    update desk_jobs d set
        state = case when p_state = 'queued' and d.state = 'cancelling' then 'cancelling' else p_state end,
        done = coalesce(p_done, d.done), total = coalesce(p_total, d.total),
        message = coalesce(left(p_message, 200), d.message),
        result = coalesce(p_result, d.result), error = p_error, lease_owner = null,
        lease_until = case when p_state = 'queued' and p_wait_s is not null
                           then clock_timestamp() + make_interval(secs => p_wait_s) end,
        attempts = case when p_state = 'queued' and p_wait_s is null then 0 else d.attempts end,
        finished_at = case when p_state = 'queued' then null else clock_timestamp() end
    where d.id = p_id and d.lease_owner = p_owner and d.state in ('running', 'cancelling')
    returning * into j;
    return json_build_object('held', j.id is not null, 'job', case when j.id is not null then row_to_json(j) end);
end
$$;
comment on function desk_finish_job is 'Ends a job, or puts it back into the queue (p_wait_s: not before then).';

create or replace function desk_cancel_job(p_id uuid) returns json
language plpgsql set search_path = public, extensions as $$
declare
    j desk_jobs;
begin
    select * into j from desk_jobs where id = p_id for update;
    if j.id is null then
        return json_build_object('found', false);
    end if;
    if j.state in ('queued', 'running', 'cancelling') then
        -- With nobody at work there is nobody to wait for.
        update desk_jobs d set
            state = case when d.state = 'queued' or desk_job_is_free(d) then 'cancelled' else 'cancelling' end,
            finished_at = case when d.state = 'queued' or desk_job_is_free(d) then clock_timestamp() end,
            lease_owner = case when d.state = 'queued' or desk_job_is_free(d) then null else d.lease_owner end
        where d.id = p_id returning * into j;
    end if;
    return json_build_object('found', true, 'job', row_to_json(j));
end
$$;
comment on function desk_cancel_job(uuid) is 'Asks a running job to stop between two steps; one that nobody works on ends at once.';

create or replace function desk_list_jobs(
    p_kind text default null, p_live boolean default null, p_limit integer default 25, p_offset integer default 0,
    p_id uuid default null
) returns json
language sql stable set search_path = public, extensions as $$
    with fitting as (
        select j.* from desk_jobs j
        where (p_kind is null or j.kind = p_kind) and (p_id is null or j.id = p_id)
          and (p_live is null or p_live = (j.state in ('queued', 'running', 'cancelling')))
    ), page as (
        select f.*, desk_job_is_free(f::desk_jobs) as free from fitting f
        order by f.created_at desc, f.id desc
        limit greatest(0, least(coalesce(p_limit, 25), 500)) offset greatest(0, coalesce(p_offset, 0))
    )
    select json_build_object(
        'rows', (select coalesce(json_agg(page order by created_at desc, id desc), '[]') from page),
        'total', (select count(*) from fitting),
        'live', (select count(*) from desk_jobs where state in ('queued', 'running', 'cancelling')))
$$;
comment on function desk_list_jobs is 'Jobs, newest first; `live` counts those that are queued or running, of every kind.';

create or replace function desk_prune_jobs(p_days integer default 30, p_abandoned_days integer default 7) returns json
language plpgsql set search_path = public, extensions as $$
declare
    gone bigint;
    abandoned bigint;
begin
    if p_days is null or p_days < 1 or p_abandoned_days is null or p_abandoned_days < 1 then
        raise exception 'days must be 1 or more' using errcode = '22023';
    end if;
    -- Bound to a data folder that nobody opens any more: what it needs is deleted there after as many days.
    update desk_jobs d set state = 'failed', finished_at = clock_timestamp(), lease_owner = null, lease_until = null,
        error = jsonb_build_object('code', 'abandoned')
    where d.id in (
        select x.id from desk_jobs x
        where x.state in ('queued', 'running', 'cancelling') and x.place is not null and desk_job_is_free(x)
          and coalesce(x.heartbeat, x.created_at) < clock_timestamp() - make_interval(days => p_abandoned_days)
        for update skip locked);
    get diagnostics abandoned = row_count;
    delete from desk_jobs d where d.id in (
        select x.id from desk_jobs x
        where x.state in ('cancelled', 'failed', 'done') and x.finished_at < clock_timestamp() - make_interval(days => p_days)
        order by x.finished_at limit 1000 for update skip locked);
    get diagnostics gone = row_count;
    return json_build_object('deleted', gone, 'abandoned', abandoned);
end
$$;
comment on function desk_prune_jobs(integer, integer) is 'Deletes jobs that ended long ago, fails those whose data folder is gone.';

revoke execute on function desk_job_is_free, desk_start_job, desk_claim_job, desk_beat_job, desk_finish_job, desk_cancel_job,
    desk_list_jobs, desk_prune_jobs from public, anon, authenticated;
grant execute on function desk_job_is_free, desk_start_job, desk_claim_job, desk_beat_job, desk_finish_job, desk_cancel_job,
    desk_list_jobs, desk_prune_jobs to service_role;

notify pgrst, 'reload schema';
