"""Captions and questions of anybody, rewritten by their parse; each function says why it refuses a text."""
