"""What the product does, for pages, API and command line alike: search, ingest, uploads, demo data."""
