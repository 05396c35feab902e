"""What asks the model again: under changed conditions (``controls``), with parts hidden (``explaining``), and the
smallest change that breaks a case (``shrink``).

The room knows a model only by its protocol, and never changes a metric of the run.
"""
