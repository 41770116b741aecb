-- What a million tokens cost, as data with its source. Rows are only ever added: of several for one provider, model, start
-- and size the latest entered counts, so a correction reprices the past and the old figure can still be explained.
select set_config('search_path', 'public, extensions', true);

create table if not exists desk_prices (
    id uuid primary key default gen_random_uuid(),
    provider text not null check (provider <> ''),
    model text not null check (model <> ''),
    valid_from timestamptz not null check (valid_from = date_trunc('hour', valid_from, 'UTC') and isfinite(valid_from)),
    size_over integer not null default 0 check (size_over in (
        0, 32000, 32768, 64000, 65536, 128000, 131072, 200000, 256000, 262144, 272000, 500000, 524288, 1000000, 1048576)),
    input_usd numeric check (input_usd >= 0 and input_usd < 1000000),
    output_usd numeric check (output_usd >= 0 and output_usd < 1000000),
    cached_usd numeric check (cached_usd >= 0 and cached_usd < 1000000),
    source text not null check (source <> ''),
    source_date date not null,
    demo boolean not null default false,
    entered_by text not null,
    entered_at timestamptz not null default clock_timestamp()
);
create index if not exists desk_prices_model_idx on desk_prices (provider, model, valid_from);
create index if not exists desk_prices_valid_from_idx on desk_prices (valid_from);
alter table desk_prices enable row level security;
revoke all on desk_prices from public, anon, authenticated, service_role;
grant select, insert on desk_prices to service_role;
comment on table desk_prices is 'USD per million tokens by provider, model and start; append-only, the latest entry counts.';
comment on column desk_prices.valid_from is 'From this instant on, which belongs to the new price. A whole UTC hour: usage is totalled by hour.';
comment on column desk_prices.size_over is 'For calls whose prompt has more tokens than this, for the whole call.';
comment on column desk_prices.input_usd is 'Null: these tokens have no price from then on. Never to be taken as 0.';
comment on column desk_prices.cached_usd is 'Null: cached tokens cost what other input costs.';
comment on column desk_prices.demo is 'Invented, for the demo data.';

create or replace function desk_price_list() returns json
language sql stable set search_path = public, extensions as $$
    -- Amounts as text: a JSON number becomes a binary fraction on the way.
    select coalesce(json_agg(json_build_object(
        'id', id, 'provider', provider, 'model', model, 'valid_from', valid_from, 'size_over', size_over,
        'input_usd', input_usd::text, 'output_usd', output_usd::text, 'cached_usd', cached_usd::text, 'source', source,
        'source_date', source_date, 'demo', demo, 'entered_by', entered_by, 'entered_at', entered_at)
        order by provider, model, valid_from, size_over, entered_at, id), '[]')
    from desk_prices
$$;
comment on function desk_price_list() is 'Every price ever entered, amounts as text; the latest entry of a start and size counts.';

create or replace function desk_set_prices(p_rows jsonb, p_events jsonb) returns json
language plpgsql set search_path = public, extensions as $$
declare
    added bigint;
begin
    insert into desk_prices (provider, model, valid_from, size_over, input_usd, output_usd, cached_usd, source, source_date,
                             demo, entered_by)
    select provider, model, valid_from, coalesce(size_over, 0), input_usd, output_usd, cached_usd, source, source_date,
           coalesce(demo, false), entered_by
    from jsonb_to_recordset(p_rows) as r (
        provider text, model text, valid_from timestamptz, size_over integer, input_usd numeric, output_usd numeric,
        cached_usd numeric, source text, source_date date, demo boolean, entered_by text);
    get diagnostics added = row_count;
    perform companion_append_events(p_events);
    return json_build_object('added', added);
end
$$;
comment on function desk_set_prices(jsonb, jsonb) is 'Enters prices, with their events in the same transaction.';

create or replace function desk_usage_budget() returns json
language sql stable set search_path = public, extensions as $$
    select coalesce((select value::json from desk_meta where key = 'usage_budget'), '{}')
$$;
comment on function desk_usage_budget() is 'The budget as it was set: tokens and USD (text) a day, USD a month; {} for none.';

create or replace function desk_set_usage_budget(p_budget jsonb, p_event jsonb) returns json
language plpgsql set search_path = public, extensions as $$
begin
    insert into desk_meta (key, value) values ('usage_budget', p_budget)
    on conflict (key) do update set value = excluded.value;
    perform companion_append_events(jsonb_build_array(p_event));
    return p_budget::json;
end
$$;
comment on function desk_set_usage_budget(jsonb, jsonb) is 'Sets the budget, with its event in the same transaction.';

revoke execute on function desk_price_list, desk_set_prices, desk_usage_budget, desk_set_usage_budget
    from public, anon, authenticated;
grant execute on function desk_price_list, desk_set_prices, desk_usage_budget, desk_set_usage_budget to service_role;
