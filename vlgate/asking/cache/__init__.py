"""Replies of models on disk: one SQLite file that several processes share, checked record by record."""
