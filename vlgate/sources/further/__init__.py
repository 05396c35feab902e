"""Further benchmarks of compositionality, space, colour and hallucination, each read as its authors release it."""
