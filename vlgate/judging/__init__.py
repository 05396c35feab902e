"""From predictions to verdicts: answers are read, and the rule of the shape says which cases are right."""
