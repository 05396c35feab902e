"""Acuity charts: the level at which a model falls to the midpoint between chance and its best, for each faculty."""
