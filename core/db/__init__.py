"""The one way to the database: supabase-py behind a client that times out, revives and translates every failure."""
