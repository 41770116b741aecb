-- Taking events out of the log so that the rest still verifies: what retention does, for others too. What goes joins the
-- gaps that are there, and gaps that touch become one.
select set_config('search_path', 'public, extensions', true);

create or replace function companion_take_out_events(p_seqs bigint[]) returns bigint
language plpgsql security definer set search_path = public, extensions, pg_temp as $$
declare
    deleted bigint;
begin
    perform pg_advisory_xact_lock(hashtextextended('companion_events', 0));
    with doomed as (
        delete from companion_events e where e.seq = any (p_seqs) returning e.seq, e.prev_hash, e.hash
    ), known as (
        delete from companion_event_gaps g where exists (select from doomed) returning g.*
    ), gaps as (
        select from_seq, to_seq, prev_hash, last_hash, events from known
        union all
        select seq, seq, prev_hash, hash, 1 from doomed
    ), marked as (
        select g.*, coalesce(g.from_seq = lag(g.to_seq) over (order by g.from_seq) + 1, false) as adjoins from gaps g
    ), runs as (
        select m.*, count(*) filter (where not m.adjoins) over (order by m.from_seq) as run from marked m
    ), merged as (
        insert into companion_event_gaps (from_seq, to_seq, prev_hash, last_hash, events)
        select min(from_seq), max(to_seq), (array_agg(prev_hash order by from_seq))[1],
               (array_agg(last_hash order by from_seq desc))[1], sum(events)
        from runs group by run
    )
    select count(*) into deleted from doomed;

    if deleted > 0 then
        insert into desk_meta (key, value)
        select 'events_checkpoint', jsonb_build_object(
            'seq', coalesce(max(to_seq) filter (where from_seq = 1), 0),
            'hash', coalesce(max(last_hash) filter (where from_seq = 1), repeat('0', 64)),
            'gaps', count(*), 'deleted', sum(events), 'at', now())
        from companion_event_gaps
        on conflict (key) do update set value = excluded.value;
    end if;
    return deleted;
end
$$;
comment on function companion_take_out_events(bigint[]) is
    'Deletes events and leaves the ends of each run, so that the rest still verifies; only for functions of this schema.';

create or replace function companion_prune_events(
    p_observation_days integer default 90, p_observation_max integer default 50000, p_audit_days integer default 400
) returns json
language plpgsql security definer set search_path = public, extensions, pg_temp set statement_timeout = '120s' as $$
declare
    doomed bigint[];
begin
    if least(p_observation_days, p_observation_max, p_audit_days) < 0
       or num_nulls(p_observation_days, p_observation_max, p_audit_days) > 0 then
        raise exception 'retention must not be negative or null' using errcode = '22023';
    end if;
    perform pg_advisory_xact_lock(hashtextextended('companion_events', 0));

    -- First by age, then the overflow of observations, oldest first; audit events never by count.
    doomed := array(
        select e.seq from companion_events e
        where (e.class = 'audit' and e.ts < now() - make_interval(days => p_audit_days))
           or (e.class = 'observation' and e.ts < now() - make_interval(days => p_observation_days))
        union
        (select o.seq from companion_events o
         where o.class = 'observation' and o.ts >= now() - make_interval(days => p_observation_days)
         order by o.seq desc offset p_observation_max));
    return json_build_object('deleted', companion_take_out_events(doomed));
end
$$;
comment on function companion_prune_events is 'Takes out what retention no longer keeps; the rest still verifies.';

revoke execute on function companion_take_out_events from public, anon, authenticated, service_role;
notify pgrst, 'reload schema';
