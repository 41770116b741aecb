"""Memory Desk without its pages: payloads, chunks, embeddings, search, and the record of who did what."""
