"""``cases.parquet`` and ``predictions.parquet``, written from the columns of verdicts."""
