"""The slice of PostgREST and Auth that supabase-py needs, over the embedded Postgres; a process of its own.

A request flows one way: app (HTTP) -> routes (what is asked) -> grammar, filters, columns (parse) -> read, write, call
(SQL text and parameters) -> execute (one transaction) -> reply. Text of a request reaches Postgres as a parameter only;
every identifier in the SQL was found in the catalogue. Nothing is logged: bodies and URLs hold personal data.
"""
