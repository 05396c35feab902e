"""Arithmetic on arrays: the shapes of cases with their rules, metrics, intervals and comparisons of runs.

It never imports torch, Pillow, pytest, a model or a source.
"""
