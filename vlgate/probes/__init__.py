"""What asks the model again, once the run has its verdicts.

``controls`` ask under changed conditions, ``explaining`` with parts hidden, and ``shrink`` looks for the smallest
change that breaks a case. The room knows a model only by its protocol, and never changes a metric of the run.
"""
