"""One run without pytest: plan the cases, load and check the model, and conclude; join the parts of a run.

It never depends on the order of the cases, on the worker or on the time. It decides no gate: ``record`` does.
"""
