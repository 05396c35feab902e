"""Image files, decoded to upright RGB when a model asks for them."""
