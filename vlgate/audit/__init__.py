"""What the data give away: flaws, what text alone reaches, shortcuts, near-copies, and labels that people dispute."""
