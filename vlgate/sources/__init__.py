"""Tasks of cases, read from released benchmarks, scene graphs and a user's own files: one module per benchmark."""
