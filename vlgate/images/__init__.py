"""Image files, decoded when a model needs them."""
