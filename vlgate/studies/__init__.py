"""What is found out after a run, or without one: the papers' analyses, acuity charts, sensitivity to defects.

A run never imports it.
"""
