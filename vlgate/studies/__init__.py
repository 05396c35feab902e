"""Studies beside a run: the papers' analyses, acuity charts, and which task catches which defect."""
