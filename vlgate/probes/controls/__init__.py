"""Controls: the model is asked again under changed conditions, to learn whether its figures mean what they seem to.

A control is a ``Control`` (``control.py``), named in ``registry.py``, in a package or module of its own. A run asks the
controls of ``--controls`` in the process that the user started, after the last case and before the gates are judged,
so it is the same with ``-n``; a part of a run (``--shard``) asks none. The same sample of at most ``--controls-limit``
judged cases of each task is drawn by the seed for every control, and given as a ``Sample`` with the verdicts of the
run. So the replies to the cases themselves cost nothing, and a control asks only what it changed, through
``ModelPredictor.predict`` in calls as large as possible: each distinct request once, from the cache if it is there.

- ``Control.requests(cases)`` says before the run how many requests the control asks about some cases, at most.
- ``Control.measure(sample, predictor)`` returns a ``ControlledTask`` (``vlgate.metrics.controlled``): for each case a
  value in 0..1 in each of its columns, NaN if there is none, and figures over these columns. Cases without a value are
  counted in ``left_out``, with the reason. The intervals come from there: shares have Wilson's, differences of two
  columns that of paired values, both clustered by image.
- ``Control.about_model(predictor, seed)``, if there is one, measures what is about the model and no task; it returns a
  ``ControlledTask`` whose cases are its own, or None if it does not apply to the model.
- A figure that a gate may name is in ``metrics.names.CONTROLLED`` with the name of its control. Each task has it.

What a model raises ends the control, and the record says so; no figure of another task is lost. ``metrics.json`` has
the figures under the task and control, ``controls.json`` the columns, from which ``vlgate judge`` decides gates of any
confidence again. The terminal, ``summary.md`` and ``report.html`` have a section for each control. They take
everything from the record and from the ``says``, ``figures`` and ``columns`` of the control: a new control needs no
code there.
"""
