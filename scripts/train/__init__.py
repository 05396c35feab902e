"""Training of the small models that are shipped."""
