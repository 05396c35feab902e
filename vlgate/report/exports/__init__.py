"""A finished run in the formats of other tools."""
