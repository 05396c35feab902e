"""Recorded outputs of other harnesses: read in their own forms, and joined with the requests of the planned cases."""
