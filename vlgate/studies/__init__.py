"""What is found out after a run, or without one: the papers' analyses, acuity charts, sensitivity to defects."""
