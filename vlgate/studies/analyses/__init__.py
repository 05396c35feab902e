"""The analyses of the benchmarks' papers, of one or several runs: what moves a model's scores, beyond its figures."""
