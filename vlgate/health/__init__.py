"""Health of the data: flaws of the cases, and how many cases the texts alone solve."""
