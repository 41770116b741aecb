-- The usage of rows that were there before. A file of its own: the triggers stand and their lock is gone, so the service
-- writes on while this reads.
select set_config('search_path', 'public, extensions', true);
select desk_rebuild_usage();
