-- Free text of the companion may be sealed (MEMORY_DESK_DATA_KEY): a sealed text is longer than the text, so the limits of the
-- text are for plain ones, and the product keeps them before it seals. And a way to seal what was written before.
select set_config('search_path', 'public, extensions', true);

alter table companion_facts drop constraint if exists companion_facts_content_check;
alter table companion_facts add constraint companion_facts_content_check
    check (length(content) between 1 and 300 or (content like 'sealed:v1:%' and length(content) <= 4000));
alter table companion_conversations drop constraint if exists companion_conversations_title_check;
alter table companion_conversations add constraint companion_conversations_title_check
    check (length(title) between 1 and 120 or (title like 'sealed:v1:%' and length(title) <= 4000));

create or replace function companion_reseal(p_table text, p_changes jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    known jsonb := '{"companion_meals": ["description", "foods"], "companion_conversations": ["title"],
                     "companion_messages": ["content", "tool_call", "tool_result", "meta"], "companion_facts": ["content"]}';
    one jsonb;
    kind text;
    changed integer := 0;
    hit integer;
begin
    if not known ? p_table then
        raise exception 'no table of sealed text: %', p_table using errcode = '22023';
    end if;
    for one in select * from jsonb_array_elements(p_changes) loop
        if not known -> p_table ? (one ->> 'column') then
            raise exception 'no column of sealed text: %', one ->> 'column' using errcode = '22023';
        end if;
        select format_type(atttypid, atttypmod) into kind from pg_attribute
        where attrelid = p_table::regclass and attname = one ->> 'column';
        -- Only what still is as it was read: somebody may have changed it meanwhile.
        if kind = 'jsonb' then
            execute format('update %I set %I = $1 where id = $2 and %I = $3', p_table, one ->> 'column', one ->> 'column')
                using one -> 'after', (one ->> 'id')::uuid, one -> 'before';
        else
            execute format('update %I set %I = $1 where id = $2 and %I = $3', p_table, one ->> 'column', one ->> 'column')
                using one ->> 'after', (one ->> 'id')::uuid, one ->> 'before';
        end if;
        get diagnostics hit = row_count;
        changed := changed + hit;
    end loop;
    return json_build_object('changed', changed);
end
$$;
comment on function companion_reseal(text, jsonb) is
    'Puts sealed text where plain text, or text of another key, stood: [{id, column, before, after}].';
revoke execute on function companion_reseal(text, jsonb) from public, anon, authenticated;
grant execute on function companion_reseal(text, jsonb) to service_role;

notify pgrst, 'reload schema';
