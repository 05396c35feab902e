"""``report.html``: the page of a run, one file that works offline, from the files of the run's folder."""
