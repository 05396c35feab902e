"""The parts of a run (``--shard I/N``), joined to the run that they are parts of."""
