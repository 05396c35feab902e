"""A model on the actors of an existing Ray cluster: its calls, its images and its errors cross the border.

The room is one step of the chain of ``vlgate.asking``. It imports Ray only when a run asks for it, and never starts a
cluster.
"""
