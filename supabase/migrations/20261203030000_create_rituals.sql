-- Routines: what is walked through in the morning, in the evening, or when something happens; and the row of each run, which is
-- its whole state. A run keeps no word that somebody typed: status, lengths and ids alone.
select set_config('search_path', 'public, extensions', true);

create table if not exists companion_rituals (
    id uuid primary key,
    title text not null check (length(title) between 1 and 60),
    description text check (length(description) <= 500),
    trigger text not null check (trigger in ('morning', 'evening', 'manual')),
    status text not null default 'active' check (status in ('active', 'paused', 'archived')),
    template_id text,
    origin text not null default 'person' check (origin in ('person', 'template', 'rules', 'server', 'cloud')),
    version integer not null default 1,
    last_actor jsonb not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    deleted_at timestamptz
);
comment on table companion_rituals is 'Routines of the operator. Deleted ones stay, so that they can be brought back.';
comment on column companion_rituals.version is 'Rises with each change of what it consists of; a run belongs to one version.';
comment on column companion_rituals.origin is 'Who put it together: a person, a template, the rules, or a model of that tier.';

create table if not exists companion_ritual_steps (
    ritual_id uuid not null references companion_rituals (id) on delete cascade,
    pos integer not null check (pos between 0 and 29),
    type text not null check (type in ('tool_call', 'number_input', 'text_input', 'mood_picker', 'info_display', 'checklist')),
    label text not null check (length(label) between 1 and 120),
    config jsonb not null default '{}' check (jsonb_typeof(config) = 'object'),
    primary key (ritual_id, pos)
);
comment on table companion_ritual_steps is 'The steps of a routine in their order, from 0.';

create table if not exists companion_ritual_logs (
    id uuid primary key,
    ritual_id uuid not null references companion_rituals (id) on delete cascade,
    version integer not null,
    day date not null,
    status text not null default 'running' check (status in ('running', 'completed', 'ended', 'aborted')),
    completed integer not null default 0,
    total integer not null,
    results jsonb not null default '{}' check (jsonb_typeof(results) = 'object'),
    actor jsonb not null,
    started_at timestamptz not null,
    completed_at timestamptz,
    ended_at timestamptz
);
comment on table companion_ritual_logs is 'One row per run; while it runs the row is its state, for every tab and process.';
comment on column companion_ritual_logs.results is
    'By position: status, when, length of a text, ids and counts that a later step takes. A dialog key is a whole string of it.';
comment on column companion_ritual_logs.status is
    'completed: every step is done; ended: gone through with steps left out; aborted: left before its end.';
create unique index if not exists companion_ritual_logs_running on companion_ritual_logs (ritual_id) where status = 'running';
create index if not exists companion_ritual_logs_started_idx on companion_ritual_logs (started_at desc, id desc);

alter table companion_rituals enable row level security;
alter table companion_ritual_steps enable row level security;
alter table companion_ritual_logs enable row level security;
revoke all on companion_rituals, companion_ritual_steps, companion_ritual_logs from public, anon, authenticated;
grant all on companion_rituals, companion_ritual_steps, companion_ritual_logs to service_role;

-- Closes the run that is under way, if any: it was made for what the routine was.
create or replace function companion_ritual_abort(p_id uuid, p_at timestamptz) returns bigint
language plpgsql set search_path = public, extensions as $$
declare
    n bigint;
begin
    update companion_ritual_logs set status = 'aborted', ended_at = p_at where ritual_id = p_id and status = 'running';
    get diagnostics n = row_count;
    return n;
end
$$;
comment on function companion_ritual_abort(uuid, timestamptz) is 'Closes the run of a routine as aborted; how many that were.';

create or replace function companion_ritual_save(
    p_ritual jsonb, p_steps jsonb, p_version integer, p_at timestamptz, p_actor jsonb, p_event jsonb
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    given companion_rituals := jsonb_populate_record(null::companion_rituals, p_ritual);
    before companion_rituals;
    aborted bigint := 0;
begin
    if given.id is null or jsonb_typeof(p_steps) is distinct from 'array' or jsonb_array_length(p_steps) = 0 then
        raise exception 'p_ritual needs an id and p_steps a step' using errcode = '22023';
    end if;
    if p_version = 0 then
        insert into companion_rituals (id, title, description, trigger, template_id, origin, last_actor, created_at, updated_at)
        select given.id, given.title, given.description, given.trigger, given.template_id, coalesce(given.origin, 'person'),
               p_actor, p_at, p_at
        on conflict do nothing;
        if not found then
            -- The same form, sent twice.
            return json_build_object('outcome', 'same', 'aborted', 0);
        end if;
    else
        select * into before from companion_rituals r where r.id = given.id and r.deleted_at is null for update;
        if before.id is null then
            return json_build_object('outcome', 'missing', 'aborted', 0);
        elsif before.version <> p_version then
            return json_build_object('outcome', 'stale', 'aborted', 0);
        end if;
        update companion_rituals r set title = given.title, description = given.description, trigger = given.trigger,
            version = r.version + 1, last_actor = p_actor, updated_at = p_at
        where r.id = given.id;
        aborted := companion_ritual_abort(given.id, p_at);
        delete from companion_ritual_steps s where s.ritual_id = given.id;
    end if;
    insert into companion_ritual_steps (ritual_id, pos, type, label, config)
    select given.id, n - 1, s ->> 'type', s ->> 'label', coalesce(s -> 'config', '{}')
    from jsonb_array_elements(p_steps) with ordinality e (s, n);
    perform desk_append_event(p_event, '{}');
    return json_build_object('outcome', case when p_version = 0 then 'created' else 'changed' end, 'aborted', aborted);
end
$$;
comment on function companion_ritual_save is
    'Makes (p_version 0) or changes a routine. outcome: created, same, changed, stale (somebody changed it meanwhile) or missing.';

create or replace function companion_ritual_status(
    p_id uuid, p_status text, p_at timestamptz, p_actor jsonb, p_event jsonb
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    r companion_rituals;
    was text;
begin
    if p_status is null or p_status not in ('active', 'paused', 'archived', 'deleted', 'restored') then
        raise exception 'a routine is active, paused, archived, deleted or restored' using errcode = '22023';
    end if;
    select * into r from companion_rituals x where x.id = p_id for update;
    was := case when r.deleted_at is not null then 'deleted' else r.status end;
    if r.id is null or (was = 'deleted' and p_status not in ('restored', 'deleted')) then
        return json_build_object('outcome', 'missing', 'before', null);
    elsif was = p_status or (p_status = 'restored' and was <> 'deleted') then
        return json_build_object('outcome', 'unchanged', 'before', was);
    end if;
    update companion_rituals x set
        status = case when p_status in ('deleted', 'restored') then x.status else p_status end,
        deleted_at = case when p_status = 'deleted' then p_at end, last_actor = p_actor, updated_at = p_at
    where x.id = p_id;
    if p_status not in ('active', 'restored') then
        perform companion_ritual_abort(p_id, p_at);
    end if;
    perform desk_append_event(p_event, '{}');
    return json_build_object('outcome', 'changed', 'before', was);
end
$$;
comment on function companion_ritual_status is
    'Pauses, resumes, archives, deletes or restores a routine; a run under way is closed. outcome: changed, unchanged or missing.';

-- With its steps, the run under way, and the latest run of the day.
create or replace function companion_ritual_list(p_day date, p_id uuid default null) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(row_to_json(x) order by x.rank, x.created_at, x.id), '[]') from (
        select r.*, array_position(array['active', 'paused', 'archived'], r.status) as rank,
               (select coalesce(json_agg(json_build_object('type', s.type, 'label', s.label, 'config', s.config) order by s.pos), '[]')
                from companion_ritual_steps s where s.ritual_id = r.id) as steps,
               (select row_to_json(l) from companion_ritual_logs l where l.ritual_id = r.id and l.status = 'running') as running,
               (select row_to_json(l) from companion_ritual_logs l where l.ritual_id = r.id and l.day = p_day
                order by l.started_at desc, l.id desc limit 1) as today
        from companion_rituals r
        where r.deleted_at is null and (p_id is null or r.id = p_id)
        order by r.created_at desc limit 500) x
$$;
comment on function companion_ritual_list(date, uuid) is 'Routines that are not deleted, active ones first.';

revoke execute on function companion_ritual_abort, companion_ritual_save, companion_ritual_status, companion_ritual_list
    from public, anon, authenticated;
grant execute on function companion_ritual_abort, companion_ritual_save, companion_ritual_status, companion_ritual_list
    to service_role;
