"""The making of data sets: inputs to candidates, candidates to a set that is checked and balanced, with its report."""
