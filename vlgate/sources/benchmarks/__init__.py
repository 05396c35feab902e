"""Benchmarks as their authors release them, the drawn scenes, and a user's own cases: one module each."""
