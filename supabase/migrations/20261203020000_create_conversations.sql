-- Conversations with the companion. A turn is a question and all that came of it; it knows the dialogs that it is about, so that
-- whoever erases one takes the whole turn along.
select set_config('search_path', 'public, extensions', true);

create table if not exists companion_conversations (
    id uuid primary key,
    title text not null check (length(title) between 1 and 120),
    created_at timestamptz not null,
    last_message_at timestamptz not null,
    deleted_at timestamptz
);
comment on table companion_conversations is 'Conversations with the companion; deleted ones are kept for a while.';
create index if not exists companion_conversations_last_idx on companion_conversations (last_message_at desc, id desc)
    where deleted_at is null;

create table if not exists companion_messages (
    id uuid primary key,
    seq bigint generated always as identity,
    conversation_id uuid not null references companion_conversations (id) on delete cascade,
    turn_id uuid not null,
    role text not null check (role in ('user', 'assistant', 'system', 'tool_result')),
    content text not null default '',
    tool_call jsonb,
    tool_result jsonb,
    meta jsonb not null default '{}',
    created_at timestamptz not null
);
comment on table companion_messages is 'Messages of conversations. A result of a tool is its redacted form.';
comment on column companion_messages.turn_id is 'The user message that this belongs to; its own id for that one.';
comment on column companion_messages.tool_call is 'name and params; dialogs by their alias.';
comment on column companion_messages.meta is 'Of an answer: tier, model, latency_ms, what was tried, figures with their sources.';
create index if not exists companion_messages_conversation_idx on companion_messages (conversation_id, created_at, seq);
create index if not exists companion_messages_turn_idx on companion_messages (turn_id);

create table if not exists companion_conversation_dialogs (
    id uuid primary key default gen_random_uuid(),
    conversation_id uuid not null references companion_conversations (id) on delete cascade,
    dialog_key text not null,
    turn_id uuid,
    alias text,
    named boolean not null default false,
    request_id uuid generated always as (turn_id) stored
);
comment on table companion_conversation_dialogs is 'The dialogs that a turn is about, that the title names, or that have an alias in a conversation.';
comment on column companion_conversation_dialogs.request_id is
    'The turn again, under a name by which an erasure collects what events may call the person''s.';
create index if not exists companion_conversation_dialogs_key_idx on companion_conversation_dialogs (dialog_key);
create index if not exists companion_conversation_dialogs_conversation_idx on companion_conversation_dialogs (conversation_id);

-- A merge takes a row out and puts it back in one statement: then it is still there, and nothing is forgotten.
create or replace function companion_forget_turns() returns trigger
language plpgsql set search_path = public, extensions as $$
begin
    delete from companion_messages m using gone g
    where m.turn_id = g.turn_id and not exists (select from companion_conversation_dialogs d where d.id = g.id);
    update companion_conversations c set title = 'Conversation' from gone g
    where c.id = g.conversation_id and g.named
      and not exists (select from companion_conversation_dialogs d where d.id = g.id);
    return null;
end
$$;
comment on function companion_forget_turns() is 'Deletes the turns about a dialog that was erased, and titles that name it.';
drop trigger if exists companion_forget_turns on companion_conversation_dialogs;
create trigger companion_forget_turns after delete on companion_conversation_dialogs
    referencing old table as gone for each statement execute function companion_forget_turns();

alter table companion_conversations enable row level security;
alter table companion_messages enable row level security;
alter table companion_conversation_dialogs enable row level security;
revoke all on companion_conversations, companion_messages, companion_conversation_dialogs from public, anon, authenticated;
grant all on companion_conversations, companion_messages, companion_conversation_dialogs to service_role;

-- p_dialogs are keys that are known; p_words, in lower case, may be ids or names of somebody.
create or replace function companion_link_dialogs(
    p_conversation_id uuid, p_turn_id uuid, p_dialogs text[], p_words text[], p_named boolean default false
) returns json
language sql set search_path = public, extensions as $$
    with people as (
        select k as dialog_key from unnest(coalesce(p_dialogs, '{}')) k where k <> ''
        union
        (select d.dialog_key from desk_dialogs d
         where lower(d.ru_id) = any (p_words) or lower(d.tu_id) = any (p_words) or lower(d.favorite_id) = any (p_words)
            or lower(d.dialog_key) = any (p_words)
         limit 100)
        union
        (select c.dialog_key from client_memory_chunks c
         where c.source = 'profile' and c.text like 'Name: %'
           and regexp_split_to_array(lower(substr(c.text, 7)), '[^[:alnum:]]+') && p_words
         limit 100)
    ), linked as (
        insert into companion_conversation_dialogs (conversation_id, dialog_key, turn_id, named)
        select p_conversation_id, p.dialog_key, p_turn_id, p_named from people p
        where not exists (select from companion_conversation_dialogs d
                          where d.conversation_id = p_conversation_id and d.dialog_key = p.dialog_key
                            and d.turn_id is not distinct from p_turn_id and d.named = p_named and d.alias is null)
        returning 1
    )
    select json_build_object('linked', (select count(*) from linked))
$$;
comment on function companion_link_dialogs is 'Notes whom a turn, or the title of a conversation, is about.';

create or replace function companion_chat_ask(
    p_conversation_id uuid, p_title text, p_message_id uuid, p_content text, p_dialogs text[], p_words text[],
    p_now timestamptz, p_started jsonb, p_sent jsonb
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    begun boolean := false;
    old companion_messages;
    talk companion_conversations;
begin
    insert into companion_conversations (id, title, created_at, last_message_at)
    values (p_conversation_id, p_title, p_now, p_now)
    on conflict (id) do nothing returning true into begun;
    select * into talk from companion_conversations where id = p_conversation_id for update;
    if talk.deleted_at is not null then
        return json_build_object('outcome', 'deleted');
    end if;
    select * into old from companion_messages where id = p_message_id;
    if old.id is not null then
        return json_build_object('outcome', 'known', 'content', old.content, 'conversation_id', old.conversation_id);
    end if;
    insert into companion_messages (id, conversation_id, turn_id, role, content, created_at)
    values (p_message_id, p_conversation_id, p_message_id, 'user', p_content, p_now);
    update companion_conversations set last_message_at = greatest(last_message_at, p_now) where id = p_conversation_id;
    perform companion_link_dialogs(p_conversation_id, p_message_id, p_dialogs, p_words);
    if begun then
        perform desk_append_event(p_started, '{}');
    end if;
    perform desk_append_event(p_sent, '{}');
    return json_build_object('outcome', 'asked', 'started', coalesce(begun, false));
end
$$;
comment on function companion_chat_ask is 'Keeps a question once, in its conversation, which is begun where it is new; with the events.';

-- Nothing is kept of a turn whose question was erased meanwhile.
create or replace function companion_chat_add(
    p_conversation_id uuid, p_turn_id uuid, p_messages jsonb, p_dialogs text[], p_aliases jsonb, p_words text[],
    p_now timestamptz, p_sent jsonb
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    n integer;
begin
    perform 1 from companion_messages where id = p_turn_id and conversation_id = p_conversation_id for update;
    if not found then
        return json_build_object('stored', 0);
    end if;
    insert into companion_messages (id, conversation_id, turn_id, role, content, tool_call, tool_result, meta, created_at)
    select (m ->> 'id')::uuid, p_conversation_id, p_turn_id, m ->> 'role', coalesce(m ->> 'content', ''),
           nullif(m -> 'tool_call', 'null'), nullif(m -> 'tool_result', 'null'), coalesce(m -> 'meta', '{}'), p_now
    from jsonb_array_elements(p_messages) with ordinality as t (m, pos) order by pos
    on conflict (id) do nothing;
    get diagnostics n = row_count;
    update companion_conversations set last_message_at = greatest(last_message_at, p_now) where id = p_conversation_id;
    perform companion_link_dialogs(p_conversation_id, p_turn_id, p_dialogs, p_words);
    insert into companion_conversation_dialogs (conversation_id, dialog_key, alias)
    select p_conversation_id, a.key, a.value from jsonb_each_text(coalesce(p_aliases, '{}')) a
    where not exists (select from companion_conversation_dialogs d
                      where d.conversation_id = p_conversation_id and d.dialog_key = a.key and d.alias is not null);
    if n > 0 then
        perform desk_append_event(p_sent, '{}');
    end if;
    return json_build_object('stored', n);
end
$$;
comment on function companion_chat_add is 'Keeps what came of a question: calls, results and the answer, with the event.';

create or replace function companion_conversation_list(p_limit int default 50, p_offset int default 0) returns json
language sql stable set search_path = public, extensions as $$
    select json_build_object(
        'total', (select count(*) from companion_conversations where deleted_at is null),
        'rows', coalesce((select json_agg(c) from (
            select id, title, created_at, last_message_at, deleted_at,
                   (select count(*) from companion_messages m where m.conversation_id = t.id and m.role = 'user') as questions
            from companion_conversations t where deleted_at is null
            order by last_message_at desc, id desc limit least(p_limit, 200) offset p_offset) c), '[]'))
$$;
comment on function companion_conversation_list is 'Conversations that are not deleted, the latest first.';

create or replace function companion_conversation_read(p_id uuid, p_limit int default 200) returns json
language sql stable set search_path = public, extensions as $$
    select json_build_object(
        'conversation', (select row_to_json(c) from companion_conversations c where c.id = p_id and c.deleted_at is null),
        'total', (select count(*) from companion_messages where conversation_id = p_id),
        'messages', coalesce((select json_agg(m order by m.seq) from (
            select id, seq, turn_id, role, content, tool_call, tool_result, meta, created_at
            from companion_messages where conversation_id = p_id order by seq desc limit least(p_limit, 1000)) m), '[]'),
        'aliases', coalesce((select json_object_agg(d.dialog_key, d.alias) from companion_conversation_dialogs d
                             where d.conversation_id = p_id and d.alias is not null), '{}'))
$$;
comment on function companion_conversation_read is 'A conversation with its latest messages, oldest first, and the aliases of its dialogs.';

create or replace function companion_conversation_change(
    p_id uuid, p_title text, p_deleted boolean, p_words text[], p_now timestamptz, p_event jsonb
) returns json
language plpgsql set search_path = public, extensions as $$
declare
    old companion_conversations;
begin
    select * into old from companion_conversations where id = p_id for update;
    if old.id is null then
        return json_build_object('outcome', 'missing');
    end if;
    if (p_title is null or p_title = old.title) and (p_deleted is null or p_deleted = (old.deleted_at is not null)) then
        return json_build_object('outcome', 'unchanged');
    end if;
    if p_title is not null and old.deleted_at is not null then
        return json_build_object('outcome', 'missing');
    end if;
    update companion_conversations
    set title = coalesce(p_title, title),
        deleted_at = case when p_deleted is null then deleted_at when p_deleted then p_now end
    where id = p_id;
    if p_title is not null then
        perform companion_link_dialogs(p_id, null, '{}', p_words, true);
    end if;
    perform desk_append_event(p_event, '{}');
    return json_build_object('outcome', 'done');
end
$$;
comment on function companion_conversation_change is 'Renames a conversation, deletes it or brings it back; with the event.';

create or replace function companion_prune_conversations(p_before timestamptz) returns json
language sql set search_path = public, extensions as $$
    with gone as (delete from companion_conversations where deleted_at < p_before returning 1)
    select json_build_object('deleted', count(*)) from gone
$$;
comment on function companion_prune_conversations is 'Takes conversations away that were deleted before a moment.';

revoke execute on function companion_forget_turns, companion_link_dialogs, companion_chat_ask, companion_chat_add,
    companion_conversation_list, companion_conversation_read, companion_conversation_change, companion_prune_conversations
    from public, anon, authenticated;
grant execute on function companion_link_dialogs, companion_chat_ask, companion_chat_add, companion_conversation_list,
    companion_conversation_read, companion_conversation_change, companion_prune_conversations to service_role;

notify pgrst, 'reload schema';
