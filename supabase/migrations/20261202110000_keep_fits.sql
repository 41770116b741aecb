-- Where a profile's numbers come from. A search for better boosts keeps what it found and which queries it saw; a proposal
-- made of it carries that along, and on the same labelled queries only an evaluation of the dialogs kept out counts for it.
select set_config('search_path', 'public, extensions', true);

-- What decides the order of chunks, as one text: three digits, as a person would copy the numbers by hand.
create or replace function desk_ranking_key(p_body jsonb) returns text
language sql immutable set search_path = public, extensions as $$
    select coalesce(p_body ->> 'unit', 'raw') || '|' || round(coalesce((p_body ->> 'fusion')::numeric, 0), 3) || '|'
        || coalesce((select string_agg(w.key || '=' || round(w.value::numeric, 3), ',' order by w.key collate "C")
                     from jsonb_each_text(coalesce(p_body -> 'weights', '{}')) w where round(w.value::numeric, 3) <> 0), '')
$$;
comment on function desk_ranking_key(jsonb) is 'Unit, words and boosts of a profile''s body; equal for profiles that order alike.';

create table if not exists desk_fits (
    id uuid primary key,
    query_set uuid not null,
    query_set_version integer not null,
    body jsonb not null check (jsonb_typeof(body) = 'object'),
    ranking_key text not null,
    seen uuid[] not null check (cardinality(seen) > 0),
    metric text not null,
    train jsonb,
    held_out jsonb,
    train_queries integer not null,
    held_out_queries integer not null,
    created_at timestamptz not null default now(),
    actor jsonb not null default '{}'
);
create index if not exists desk_fits_ranking_key_idx on desk_fits (ranking_key);
comment on table desk_fits is 'Profiles that a search found on labelled queries; append-only, figures and ids alone.';
comment on column desk_fits.seen is 'Queries that decided; with what the profile it started from had been found with.';
comment on column desk_fits.held_out is '{mean, low, high, ...} on the dialogs that the search did not see; null where there were none.';
alter table desk_fits enable row level security;
revoke all on desk_fits from public, anon, authenticated, service_role;
grant select on desk_fits to service_role;

alter table desk_profiles add column if not exists fits uuid[] not null default '{}';
comment on column desk_profiles.fits is 'The fits that its numbers come from; none for numbers that nobody searched for.';

create or replace function desk_add_fit(p_row jsonb, p_event jsonb) returns json
language plpgsql security definer set search_path = public, extensions, pg_temp as $$
declare
    r desk_fits := jsonb_populate_record(null::desk_fits, p_row);
    made bigint;
begin
    insert into desk_fits (id, query_set, query_set_version, body, ranking_key, seen, metric, train, held_out, train_queries,
                           held_out_queries, actor)
    values (r.id, r.query_set, r.query_set_version, r.body, desk_ranking_key(r.body), r.seen, r.metric,
            nullif(r.train, 'null'), nullif(r.held_out, 'null'), r.train_queries, r.held_out_queries,
            coalesce(p_event -> 'actor', '{}'))
    on conflict (id) do nothing;
    get diagnostics made = row_count;
    if made > 0 then
        perform desk_append_event(p_event, '{}');
    end if;
    return json_build_object('id', r.id, 'added', made > 0);
end
$$;
comment on function desk_add_fit(jsonb, jsonb) is 'Keeps what a search for better boosts found, with its event; the same id twice is one.';

-- A stored version has the fits of its proposal; one that is not stored has those that found the same numbers.
create or replace function desk_fitted(p_query_set uuid, p_body jsonb, p_version integer default null) returns json
language sql stable set search_path = public, extensions as $$
    with mine as (
        select f.id, f.seen from desk_fits f
        where f.query_set = p_query_set
          and case when p_version is null then f.ranking_key = desk_ranking_key(p_body)
                   else f.id = any ((select p.fits from desk_profiles p where p.version = p_version)::uuid[]) end
    ), seen as (select distinct s.id from mine, unnest(mine.seen) as s (id))
    select json_build_object(
        'fits', (select coalesce(json_agg(id order by id), '[]') from mine),
        'seen', (select coalesce(json_agg(id order by id), '[]') from seen),
        -- Of removed queries too: what was asked of a dialog then says something of what is asked of it now.
        'dialogs', (select coalesce(json_agg(distinct q.dialog_key), '[]') from desk_queries q join seen on seen.id = q.id))
$$;
comment on function desk_fitted(uuid, jsonb, integer) is
    'With which queries, and so which dialogs, of a set a profile was found: {fits, seen, dialogs}.';

create or replace function desk_profile_evaluation(p_version integer, p_evaluation_id uuid) returns jsonb
language plpgsql stable set search_path = public, extensions as $$
declare
    e jsonb;
    proposed desk_profiles;
begin
    select * into proposed from desk_profiles where version = p_version;
    if to_regclass('public.desk_evaluations') is null or p_evaluation_id is null then
        return null;
    end if;
    execute 'select to_jsonb(e) from desk_evaluations e where e.id = $1' into e using p_evaluation_id;
    if e is null or (e ->> 'profile_version')::integer is distinct from p_version
       or proposed.query_set is null
       or coalesce(e ->> 'query_set_id', e ->> 'query_set') is distinct from proposed.query_set then
        return null;
    end if;
    if exists (select from desk_fits f
               where f.id = any (proposed.fits) and f.query_set::text = proposed.query_set
                 and not coalesce(e -> 'result' -> 'fits', '[]') @> to_jsonb(f.id::text)) then
        return null;
    end if;
    return e;
end
$$;
comment on function desk_profile_evaluation(integer, uuid) is
    'The evaluation, if it is of exactly this version on the labelled queries that its proposal names, and without those '
    'that the version was found with; else null.';

create or replace function desk_profile_list() returns json
language sql stable set search_path = public, extensions as $$
    select json_build_object(
        'active', (select a.version from desk_profile_activations a where a.ended_at is null),
        'previous', (select a.previous from desk_profile_activations a where a.ended_at is null),
        'profiles', (
            select coalesce(json_agg(json_build_object(
                'version', p.version, 'name', p.name, 'body', p.body, 'note', p.note, 'query_set', p.query_set,
                'created_at', p.created_at, 'created_by', coalesce(p.created_by ->> 'display_name', p.created_by ->> 'principal_id'),
                'evaluation_id', y.evaluation_id, 'verdict', y.verdict, 'approved_at', y.approved_at,
                'approved_by', coalesce(y.approved_by ->> 'display_name', y.approved_by ->> 'principal_id'),
                'self_approved', y.self_approved,
                'fits', (select coalesce(json_agg(json_build_object(
                             'id', f.id, 'query_set', f.query_set, 'metric', f.metric, 'train', f.train, 'held_out', f.held_out,
                             'train_queries', f.train_queries, 'held_out_queries', f.held_out_queries)
                             order by f.created_at, f.id), '[]')
                         from desk_fits f where f.id = any (p.fits))) order by p.version desc), '[]')
            from desk_profiles p left join desk_profile_approvals y on y.version = p.version),
        'activations', (
            select coalesce(json_agg(x order by x.active_at desc), '[]')
            from (select a.version, a.previous, a.kind, a.active_at, a.ended_at, a.reason,
                         coalesce(a.actor ->> 'display_name', a.actor ->> 'principal_id') as by
                  from desk_profile_activations a order by a.active_at desc limit 100) x))
$$;
comment on function desk_profile_list() is 'Every profile with its origin and approval, and when which was in force, newest first.';

create or replace function desk_propose_fitted_profile(
    p_name text, p_body jsonb, p_query_set text, p_note text, p_fits uuid[], p_event jsonb
) returns json
language plpgsql security definer set search_path = public, extensions, pg_temp set lock_timeout = '5s' as $$
declare
    who jsonb := desk_actor_of(p_event);
    added integer;
    origin uuid[];
begin
    if who is null then return json_build_object('refused', 'no_actor'); end if;
    perform pg_advisory_xact_lock(hashtextextended('desk_profiles', 0));
    select coalesce(max(version), 0) + 1 into added from desk_profiles;
    -- What the proposer names, and whatever found the same numbers: typing them in again does not make them older.
    select coalesce(array_agg(f.id order by f.created_at, f.id), '{}') into origin from desk_fits f
    where f.id = any (coalesce(p_fits, '{}')) or f.ranking_key = desk_ranking_key(p_body);
    insert into desk_profiles (version, name, body, note, query_set, created_by, fits)
    values (added, p_name, p_body, coalesce(p_note, ''), nullif(p_query_set, ''), who, origin);
    perform desk_append_event(p_event || jsonb_build_object('record_id', 'profile:' || added),
                              jsonb_build_object('version', added));
    return json_build_object('version', added);
end
$$;
comment on function desk_propose_fitted_profile(text, jsonb, text, text, uuid[], jsonb) is
    'Adds a version with the fits that its numbers come from, and ProfileProposed; nothing becomes active by it.';

create or replace function desk_propose_profile(
    p_name text, p_body jsonb, p_query_set text, p_note text, p_event jsonb
) returns json
language sql security definer set search_path = public, extensions, pg_temp as $$
    select desk_propose_fitted_profile(p_name, p_body, p_query_set, p_note, '{}', p_event)
$$;
comment on function desk_propose_profile(text, jsonb, text, text, jsonb) is
    'desk_propose_fitted_profile for numbers of which no fit is named.';

create or replace function desk_approve_profile(p_version integer, p_evaluation_id uuid, p_note text, p_event jsonb)
returns json
language plpgsql security definer set search_path = public, extensions, pg_temp set lock_timeout = '5s' as $$
declare
    who jsonb := desk_actor_of(p_event);
    proposed desk_profiles;
    e jsonb;
    own boolean;
begin
    if who is null or who ->> 'kind' is distinct from 'user' then return json_build_object('refused', 'no_approver'); end if;
    perform pg_advisory_xact_lock(hashtextextended('desk_profiles', 0));
    select * into proposed from desk_profiles where version = p_version;
    if proposed.version is null then return json_build_object('refused', 'no_profile'); end if;
    if exists (select from desk_profile_approvals where version = p_version) then
        return json_build_object('refused', 'approved_already');
    end if;
    e := desk_profile_evaluation(p_version, p_evaluation_id);
    if e is null then
        return json_build_object('refused', case when exists (
            select from desk_evaluations o join desk_fits f on f.id = any (proposed.fits) and f.query_set = o.query_set
            where o.id = p_evaluation_id and o.profile_version = p_version and o.query_set::text = proposed.query_set)
            then 'fitted_here' else 'no_evaluation' end);
    end if;
    own := proposed.created_by ->> 'principal_id' = who ->> 'principal_id';
    insert into desk_profile_approvals (version, evaluation_id, approved_by, self_approved, verdict, note)
    values (p_version, p_evaluation_id, who, own, e ->> 'verdict', coalesce(p_note, ''));
    perform desk_append_event(p_event || jsonb_build_object('record_id', 'profile:' || p_version),
                              jsonb_build_object('version', p_version, 'evaluation_id', p_evaluation_id,
                                                 'self_approved', own));
    return json_build_object('self_approved', own, 'verdict', e ->> 'verdict');
end
$$;
comment on function desk_approve_profile(integer, uuid, text, jsonb) is
    'A person''s yes to a version on the strength of one evaluation of it, and ProfileApproved.';

create or replace function desk_profile_after_check() returns json
language plpgsql stable set search_path = public, extensions set statement_timeout = '30s' as $$
declare
    open_one desk_profile_activations;
    before_it integer;
begin
    select * into open_one from desk_profile_activations where ended_at is null;
    -- What really was in force before: after a way back that is the profile taken out, not where the next way back leads.
    select a.version into before_it from desk_profile_activations a
    where a.ended_at is not null and a.version <> open_one.version order by a.active_at desc limit 1;
    return json_build_object(
        'version', open_one.version, 'since', open_one.active_at, 'before_version', before_it,
        'now', desk_profile_figures(open_one.version, open_one.active_at, null),
        'before', case when before_it is not null
                       then desk_profile_figures(before_it, null, open_one.active_at) end);
end
$$;
comment on function desk_profile_after_check() is
    'The figures of the active profile since it became so, and of the one that was in force before it.';

revoke execute on function desk_ranking_key, desk_add_fit, desk_fitted, desk_propose_fitted_profile
    from public, anon, authenticated, service_role;
grant execute on function desk_ranking_key, desk_add_fit, desk_fitted, desk_propose_fitted_profile to service_role;
