"""Texts with their words, parts of speech and grammatical relations, from a spaCy pipeline."""
