"""The embedded Supabase: a real Postgres with pgvector, a gateway process beside it, and the migrations for both kinds.

For one machine and for tests. It listens on loopback alone; its database on a Unix socket in a private folder.
Nothing is imported here: a process that only joins what already runs must not pay for the parts that start it.
"""
