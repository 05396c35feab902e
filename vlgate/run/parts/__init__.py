"""One part of a run (``--shard I/N``): its cases, its files, and whether its images are those of the others."""
