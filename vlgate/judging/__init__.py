"""From predictions to verdicts: reading answers, and judging cases."""
