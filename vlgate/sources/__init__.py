"""Makes tasks of cases from files: released benchmarks, scene graphs, the drawn scenes and a user's own cases.

Also the figures that the papers print. It never decodes an image, trusts a name in a file, or knows a model: a wrong
record is an error, or noted, with its file and a remedy.
"""
