-- API tokens: made, listed, checked by hash, ended.
select set_config('search_path', 'public, extensions', true);

create or replace function desk_api_token_list(p_limit integer default 500) returns json
language sql stable set search_path = public, extensions as $$
    -- Those that open something first; never the hash.
    select coalesce(json_agg(json_build_object(
        'id', t.id, 'name', t.name, 'roles', t.roles, 'reveal_reason', t.reveal_reason, 'created_by', t.created_by,
        'created_at', t.created_at, 'expires_at', t.expires_at, 'last_used_at', t.last_used_at, 'revoked_at', t.revoked_at)
        order by t.revoked_at is not null, t.created_at desc, t.id), '[]')
    from (select * from desk_api_tokens order by revoked_at is not null, created_at desc, id
          limit greatest(1, least(coalesce(p_limit, 500), 1000))) t
$$;
comment on function desk_api_token_list(integer) is 'Tokens without their hashes, the revoked ones last, else newest first.';

create or replace function desk_create_api_token(
    p_id text, p_hash text, p_name text, p_roles text[], p_reveal_reason text, p_by text, p_at timestamptz,
    p_expires_at timestamptz, p_limit integer, p_event jsonb
) returns json
language plpgsql set search_path = public, extensions as $$
begin
    lock table desk_api_tokens in share row exclusive mode;
    if (select count(*) from desk_api_tokens where revoked_at is null and (expires_at is null or expires_at > p_at)) >= p_limit then
        return json_build_object('refused', 'too_many');
    end if;
    insert into desk_api_tokens (id, hash, name, roles, reveal_reason, created_by, created_at, expires_at)
    values (p_id, p_hash, p_name, (select array_agg(distinct r order by r) from unnest(p_roles) r), p_reveal_reason, p_by,
            p_at, p_expires_at);
    perform desk_append_event(p_event, '{}');
    return json_build_object('id', p_id);
end
$$;
comment on function desk_create_api_token is 'Stores the hash of a new token, with its event; refused beyond p_limit that are in force.';

create or replace function desk_revoke_api_token(p_id text, p_at timestamptz, p_event jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    held text[];
begin
    update desk_api_tokens set revoked_at = p_at where id = p_id and revoked_at is null returning roles into held;
    if held is null then
        return json_build_object('revoked', false);
    end if;
    perform desk_append_event(p_event, jsonb_build_object('before', held));
    return json_build_object('revoked', true);
end
$$;
comment on function desk_revoke_api_token is 'Ends a token for good, with its event. Again: nothing happens.';

create or replace function desk_check_api_token(p_hash text, p_now timestamptz) returns json
language plpgsql set search_path = public, extensions as $$
declare
    found desk_api_tokens;
begin
    select * into found from desk_api_tokens where hash = p_hash;
    if found.id is null then
        return '{}';
    end if;
    if found.revoked_at is null and (found.expires_at is null or found.expires_at > p_now) then
        update desk_api_tokens set last_used_at = p_now
        where id = found.id and (last_used_at is null or last_used_at <= p_now - interval '1 minute');
    end if;
    return json_build_object(
        'id', found.id, 'name', found.name, 'roles', found.roles, 'reveal_reason', found.reveal_reason,
        'expires_at', found.expires_at, 'expired', coalesce(found.expires_at <= p_now, false),
        'revoked', found.revoked_at is not null);
end
$$;
comment on function desk_check_api_token(text, timestamptz) is
    'The token with this hash, {} for none; notes that it was used, at most once a minute and only while it is in force.';

revoke execute on function desk_api_token_list, desk_create_api_token, desk_revoke_api_token, desk_check_api_token
    from public, anon, authenticated;
grant execute on function desk_api_token_list, desk_create_api_token, desk_revoke_api_token, desk_check_api_token to service_role;
