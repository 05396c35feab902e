"""From verdicts to metrics with intervals; one file per shape of case."""
