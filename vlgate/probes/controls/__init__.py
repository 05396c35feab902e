"""Controls: the model is asked again under changed conditions, to learn whether its figures mean what they seem to.

A control is a ``Control``, named in ``registry.py``. A run asks the controls of ``--controls`` in the process that the
user started, after the last case and before the gates are judged; a part of a run (``--shard``) asks none. Each gets
the same seeded sample of judged cases of a task with their verdicts, so it asks only what it changed, and returns a
``ControlledTask`` (``vlgate.metrics.controlled``): columns of values with figures over them, which come from there with
their intervals. A figure that a gate may name is in ``metrics.names.CONTROLLED``. What a model raises ends the control,
and the record says so. Reports take all they show from the record and the ``Control``: a new one needs no code there.
"""
