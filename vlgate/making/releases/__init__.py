"""Sets in the formats in which the benchmarks release theirs, which the readers of ``sources/benchmarks`` take."""
