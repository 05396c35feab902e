"""What the data give away: flaws, what text alone reaches, shortcuts, near-copies, and labels that people dispute.

The room sees no image but to compare it with another one, and never asks the model of the run or changes a metric.
"""
