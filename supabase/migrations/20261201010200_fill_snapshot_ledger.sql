-- Hashes of the snapshots that were there before; a file of its own, so that the lock of the triggers is gone.
select set_config('search_path', 'public, extensions', true);
select desk_ledger_catch_up(2000000000);
