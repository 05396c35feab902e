"""One finished run, in memory and from its folder: nothing else reads or writes a run's files.

``options`` declares what a run is asked for. ``results`` holds its figures, ``cases`` its cases in columns
(``CaseTable``), ``run_gates`` decides its gates, ``comparison`` sets it beside an earlier run, and ``verdict`` alone
says whether the model may be released; ``judging_again`` does so from the files.

It never asks a model, never imports torch, Pillow or pytest, and trusts no file: what it reads is checked first.
"""
