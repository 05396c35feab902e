"""The files that ``vlgate init`` writes, those for CI among them."""
