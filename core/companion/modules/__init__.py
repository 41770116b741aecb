"""What the companion knows of each part of the product: one file a module, each giving one `Module`."""
