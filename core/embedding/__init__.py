"""Text to vectors: Gemini, a local model in a worker process, one for tests, and the lexical fallback."""
