"""A finished run, shown: terminal, ``summary.md``, ``report.html`` (``page``), Allure, CI and export formats.

``table.py`` is the one table, as text, Markdown and HTML. The room reads a record of ``vlgate.record`` and never
computes a metric, decides a gate or asks a model.
"""
