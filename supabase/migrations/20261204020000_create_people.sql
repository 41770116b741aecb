-- People who signed in, and their sign-ins: so that a sign-in can be ended here, whatever a browser still holds.
select set_config('search_path', 'public, extensions', true);

create table if not exists desk_people (
    principal_id text primary key check (principal_id <> '' and length(principal_id) <= 80),
    display_name text not null,
    claims jsonb not null default '{}',
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null,
    valid_from timestamptz
);
comment on table desk_people is 'Whoever signed in, by a hash of provider and subject.';
comment on column desk_people.claims is 'What the provider said last that rules of access may be about; no token.';
comment on column desk_people.valid_from is 'Sign-ins that began before are over.';

create table if not exists desk_sign_ins (
    id text primary key check (id ~ '^[0-9a-f]{32}$'),
    principal_id text not null references desk_people on delete cascade,
    began_at timestamptz not null,
    last_seen_at timestamptz not null,
    ended_at timestamptz
);
create index if not exists desk_sign_ins_principal_idx on desk_sign_ins (principal_id, began_at desc);
create index if not exists desk_sign_ins_began_idx on desk_sign_ins (began_at);
comment on table desk_sign_ins is 'One for each sign-in, by a hash of its nonce; kept for as long as a cookie of it could live.';

alter table desk_people enable row level security;
alter table desk_sign_ins enable row level security;
revoke all on desk_people, desk_sign_ins from public, anon, authenticated;
grant all on desk_people, desk_sign_ins to service_role;

create or replace function desk_see_sign_in(
    p_id text, p_principal_id text, p_name text, p_claims jsonb, p_began timestamptz, p_at timestamptz, p_event jsonb
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    known desk_sign_ins;
    valid timestamptz;
    made boolean := false;
begin
    select * into known from desk_sign_ins where id = p_id;
    select valid_from into valid from desk_people where principal_id = p_principal_id;
    if known.ended_at is not null or p_began < date_trunc('second', valid) then
        return json_build_object('ended', true, 'new', false);
    end if;
    if known.id is not null and known.last_seen_at > p_at - interval '1 minute' then
        return json_build_object('ended', false, 'new', false);
    end if;
    insert into desk_people (principal_id, display_name, claims, first_seen_at, last_seen_at)
    values (p_principal_id, p_name, p_claims, p_at, p_at)
    on conflict (principal_id) do update
        set display_name = excluded.display_name, claims = excluded.claims, last_seen_at = excluded.last_seen_at;
    insert into desk_sign_ins (id, principal_id, began_at, last_seen_at)
    values (p_id, p_principal_id, p_began, p_at)
    on conflict (id) do nothing;
    made := found;
    if made then
        perform desk_append_event(p_event || jsonb_build_object('record_id', p_principal_id), jsonb_build_object('person', p_principal_id));
        delete from desk_sign_ins where began_at < p_at - interval '31 days';
    else
        update desk_sign_ins set last_seen_at = p_at where id = p_id;
    end if;
    return json_build_object('ended', false, 'new', made);
end
$$;
comment on function desk_see_sign_in is 'Notes that a sign-in is used, the first time with its event; says whether it was ended.';

create or replace function desk_end_sign_in(p_id text, p_at timestamptz, p_event jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    whose text;
begin
    update desk_sign_ins set ended_at = p_at where id = p_id and ended_at is null returning principal_id into whose;
    if whose is null then
        return json_build_object('ended', false);
    end if;
    perform desk_append_event(p_event || jsonb_build_object('record_id', whose), jsonb_build_object('person', whose));
    return json_build_object('ended', true);
end
$$;
comment on function desk_end_sign_in is 'Somebody signs out: a copy of the cookie opens nothing any more.';

create or replace function desk_end_sign_ins(p_principal_id text, p_at timestamptz, p_hours numeric, p_event jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    ended integer;
begin
    update desk_people set valid_from = p_at where principal_id = p_principal_id;
    if not found then
        return json_build_object('found', false);
    end if;
    with over as (
        update desk_sign_ins set ended_at = p_at where principal_id = p_principal_id and ended_at is null returning began_at
    )
    select count(*) into ended from over where began_at > p_at - make_interval(secs => (p_hours * 3600)::double precision);
    perform desk_append_event(
        p_event || jsonb_build_object('record_id', p_principal_id),
        jsonb_build_object('person', p_principal_id, 'sessions', ended));
    return json_build_object('found', true, 'sessions', ended);
end
$$;
comment on function desk_end_sign_ins is 'Ends every sign-in of somebody; how many of them were still open.';

create or replace function desk_people_list(p_at timestamptz, p_hours numeric) returns json
language sql stable set search_path = public, extensions as $$
    select coalesce(json_agg(json_build_object(
        'principal_id', p.principal_id, 'display_name', p.display_name, 'claims', p.claims, 'last_seen', p.last_seen_at,
        'sessions', (select count(*) from desk_sign_ins s
                     where s.principal_id = p.principal_id and s.ended_at is null
                       and s.began_at > p_at - make_interval(secs => (p_hours * 3600)::double precision)))
        order by p.last_seen_at desc, p.principal_id), '[]')
    from (select * from desk_people order by last_seen_at desc limit 500) p
$$;
comment on function desk_people_list is 'The 500 people seen last, each with the number of sign-ins that are open.';

revoke execute on function desk_see_sign_in, desk_end_sign_in, desk_end_sign_ins, desk_people_list
    from public, anon, authenticated;
grant execute on function desk_see_sign_in, desk_end_sign_in, desk_end_sign_ins, desk_people_list to service_role;

notify pgrst, 'reload schema';
