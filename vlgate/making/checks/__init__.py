"""What makes a foil trustworthy: checks of each candidate, the balance of a set, and what text alone gives away."""
