"""From predictions to verdicts: answers are read, and the rule of the shape says which cases are right.

It never holds arithmetic of its own, and never knows a threshold.
"""
