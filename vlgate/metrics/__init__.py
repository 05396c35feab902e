"""Arithmetic on arrays: the shapes of cases with their rules, metrics, intervals and comparisons of runs."""
