"""Tasks of cases, from released benchmarks, scene graphs, drawn scenes and a user's files; no image is decoded here."""
