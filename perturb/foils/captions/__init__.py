"""Foils of captions: plurality, noun foils and numbers, from a caption and the other captions of its image."""
