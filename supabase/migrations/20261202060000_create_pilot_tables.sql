-- What an operator keeps of the own day: tasks, appointments, drinks, meals, places. Deleting is setting deleted_at. Every row
-- says who changed it last and, per field, who set it. `day` is the local day, settled when the row is written, so that a
-- change of zone moves nothing. Free text stays here and never enters an event.
select set_config('search_path', 'public, extensions', true);

create table if not exists companion_tasks (
    id uuid primary key default gen_random_uuid(),
    title text not null check (title <> '' and length(title) <= 200),
    description text,
    due_date date,
    priority text not null default 'medium' check (priority in ('low', 'medium', 'high')),
    project_id text,
    label_ids text[] not null default '{}',
    completed_at timestamptz,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    deleted_at timestamptz,
    last_actor jsonb not null default '{}',
    field_actors jsonb not null default '{}'
);
create index if not exists companion_tasks_open_idx on companion_tasks (due_date, id)
    where completed_at is null and deleted_at is null;
create index if not exists companion_tasks_completed_at_idx on companion_tasks (completed_at desc) where deleted_at is null;
comment on table companion_tasks is 'Tasks of the operator. Open: completed_at is null.';

create table if not exists companion_subtasks (
    id uuid primary key default gen_random_uuid(),
    task_id uuid not null references companion_tasks on delete cascade,
    title text not null check (title <> '' and length(title) <= 200),
    completed_at timestamptz,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    deleted_at timestamptz,
    last_actor jsonb not null default '{}',
    field_actors jsonb not null default '{}'
);
create index if not exists companion_subtasks_task_id_idx on companion_subtasks (task_id);
comment on table companion_subtasks is 'Steps of a task.';

create table if not exists companion_task_reminders (
    id uuid primary key default gen_random_uuid(),
    task_id uuid not null references companion_tasks on delete cascade,
    minutes_before integer not null check (minutes_before >= 0),
    type text not null default 'nudge',
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    deleted_at timestamptz,
    last_actor jsonb not null default '{}',
    field_actors jsonb not null default '{}'
);
create index if not exists companion_task_reminders_task_id_idx on companion_task_reminders (task_id);
comment on table companion_task_reminders is 'Minutes before the day on which a task is due.';

create table if not exists companion_calendars (
    id uuid primary key default gen_random_uuid(),
    name text not null check (name <> ''),
    is_default boolean not null default false,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    deleted_at timestamptz,
    last_actor jsonb not null default '{}',
    field_actors jsonb not null default '{}'
);
create unique index if not exists companion_calendars_default_idx on companion_calendars (is_default)
    where is_default and deleted_at is null;
comment on table companion_calendars is 'Calendars; new appointments go to the default one.';

create table if not exists companion_calendar_events (
    id uuid primary key default gen_random_uuid(),
    calendar_id uuid not null references companion_calendars,
    title text not null check (title <> '' and length(title) <= 200),
    description text,
    location text,
    is_all_day boolean not null default false,
    is_recurring boolean not null default false,
    start_at timestamptz,
    end_at timestamptz,
    start_date date,
    end_date date,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    deleted_at timestamptz,
    last_actor jsonb not null default '{}',
    field_actors jsonb not null default '{}',
    check (case when is_all_day then start_date is not null and end_date > start_date and start_at is null and end_at is null
           else start_at is not null and end_at >= start_at and start_date is null and end_date is null end)
);
create index if not exists companion_calendar_events_start_at_idx on companion_calendar_events (start_at) where deleted_at is null;
create index if not exists companion_calendar_events_start_date_idx on companion_calendar_events (start_date)
    where deleted_at is null;
comment on table companion_calendar_events is
    'Appointments. An all-day one has dates and no instants, so that no zone moves it to another day.';
comment on column companion_calendar_events.end_date is 'The first day after it.';

create table if not exists companion_drink_presets (
    id uuid primary key default gen_random_uuid(),
    name text not null check (name <> ''),
    drink_type text not null,
    quantity_ml integer not null check (quantity_ml > 0),
    pos integer not null default 0,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    deleted_at timestamptz,
    last_actor jsonb not null default '{}',
    field_actors jsonb not null default '{}'
);
comment on table companion_drink_presets is 'Drinks that are logged with one click.';

create table if not exists companion_drink_entries (
    id uuid primary key default gen_random_uuid(),
    drink_type text not null,
    quantity_ml integer not null check (quantity_ml > 0),
    name text not null,
    day date not null,
    at timestamptz not null,
    preset_id uuid references companion_drink_presets on delete set null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    deleted_at timestamptz,
    last_actor jsonb not null default '{}',
    field_actors jsonb not null default '{}'
);
create index if not exists companion_drink_entries_day_idx on companion_drink_entries (day, at);
comment on table companion_drink_entries is 'What was drunk.';

create table if not exists companion_meals (
    id uuid primary key default gen_random_uuid(),
    meal_type text not null check (meal_type in ('breakfast', 'lunch', 'dinner', 'snack')),
    input_type text not null default 'text' check (input_type in ('text', 'photo')),
    description text not null,
    calories numeric check (calories >= 0),
    protein numeric check (protein >= 0),
    day date not null,
    at timestamptz not null,
    photo_media_id text,
    confidence numeric check (confidence between 0 and 1),
    foods jsonb not null default '[]',
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    deleted_at timestamptz,
    last_actor jsonb not null default '{}',
    field_actors jsonb not null default '{}'
);
create index if not exists companion_meals_day_idx on companion_meals (day, at);
comment on table companion_meals is 'What was eaten; calories and protein null where nobody said.';

create table if not exists companion_nutrition_goals (
    id uuid primary key default gen_random_uuid(),
    daily_calories numeric not null default 2000 check (daily_calories >= 0),
    daily_protein numeric default 50 check (daily_protein >= 0),
    daily_carbs numeric default 275 check (daily_carbs >= 0),
    daily_fat numeric default 78 check (daily_fat >= 0),
    daily_fibre numeric default 28 check (daily_fibre >= 0),
    daily_sugar numeric default 50 check (daily_sugar >= 0),
    daily_water_ml numeric not null default 2500 check (daily_water_ml >= 0),
    n bigint generated always as identity,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    deleted_at timestamptz,
    last_actor jsonb not null default '{}',
    field_actors jsonb not null default '{}'
);
comment on table companion_nutrition_goals is 'Goals of a day, the newest row holds; grams, kcal and ml. Null: no such goal.';

create table if not exists companion_places (
    id uuid primary key default gen_random_uuid(),
    name text not null check (name <> '' and length(name) <= 200),
    category text not null default 'other',
    address text,
    lat double precision not null check (lat between -90 and 90),
    lng double precision not null check (lng between -180 and 180),
    visit_count integer not null default 0 check (visit_count >= 0),
    last_visited_at timestamptz,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    deleted_at timestamptz,
    last_actor jsonb not null default '{}',
    field_actors jsonb not null default '{}'
);
comment on table companion_places is 'Places with their position in degrees.';

create table if not exists companion_location_logs (
    id uuid primary key default gen_random_uuid(),
    kind text not null default 'log' check (kind in ('log', 'visit')),
    lat double precision not null check (lat between -90 and 90),
    lng double precision not null check (lng between -180 and 180),
    accuracy double precision check (accuracy >= 0),
    place_id uuid references companion_places on delete set null,
    distance_km double precision not null default 0,
    day date not null,
    at timestamptz not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    deleted_at timestamptz,
    last_actor jsonb not null default '{}',
    field_actors jsonb not null default '{}'
);
create index if not exists companion_location_logs_day_idx on companion_location_logs (day, at);
create index if not exists companion_location_logs_at_idx on companion_location_logs (at desc);
comment on table companion_location_logs is 'Where the operator was: a position (log), or a visit that was entered by hand.';
comment on column companion_location_logs.distance_km is 'From the position before it on the same day.';

create table if not exists companion_tracking_sessions (
    id uuid primary key default gen_random_uuid(),
    started_at timestamptz not null,
    stopped_at timestamptz,
    log_count integer not null default 0,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    deleted_at timestamptz,
    last_actor jsonb not null default '{}',
    field_actors jsonb not null default '{}'
);
create unique index if not exists companion_tracking_sessions_open_idx on companion_tracking_sessions ((true))
    where stopped_at is null;
comment on table companion_tracking_sessions is 'Times in which positions are noted; at most one is open.';

create table if not exists companion_claimed_days (
    kind text not null check (kind <> ''),
    day date not null,
    at timestamptz not null default now(),
    primary key (kind, day)
);
comment on table companion_claimed_days is 'What happens once a day, and has happened.';

do $$
declare
    t text;
begin
    foreach t in array array['companion_tasks', 'companion_subtasks', 'companion_task_reminders', 'companion_calendars',
        'companion_calendar_events', 'companion_drink_presets', 'companion_drink_entries', 'companion_meals',
        'companion_nutrition_goals', 'companion_places', 'companion_location_logs', 'companion_tracking_sessions',
        'companion_claimed_days'] loop
        execute format('alter table %I enable row level security', t);
        execute format('revoke all on %I from public, anon, authenticated', t);
        execute format('grant all on %I to service_role', t);
    end loop;
end
$$;

insert into companion_calendars (id, name, is_default)
values ('00000000-0000-4000-8000-0000000000ca', 'Calendar', true)
on conflict do nothing;

insert into companion_drink_presets (id, name, drink_type, quantity_ml, pos)
values ('00000000-0000-4000-8000-0000000000d1', 'Glass of water', 'water', 250, 1),
       ('00000000-0000-4000-8000-0000000000d2', 'Bottle of water', 'water', 500, 2),
       ('00000000-0000-4000-8000-0000000000d3', 'Coffee', 'coffee', 200, 3),
       ('00000000-0000-4000-8000-0000000000d4', 'Tea', 'tea', 250, 4),
       ('00000000-0000-4000-8000-0000000000d5', 'Juice', 'juice', 200, 5)
on conflict do nothing;
