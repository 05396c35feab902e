"""A set of cases: its candidates on disk, its files, and the run that makes it."""
