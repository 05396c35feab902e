"""A finished run, shown: terminal, ``summary.md``, ``report.html`` (``page``), Allure, CI and export formats."""
