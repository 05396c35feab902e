"""Runs of pytest in processes of their own, forked from one that has imported everything: a line of JSON for each.

A line names the working directory, the arguments and the file for the output; the answer is the exit status.
"""

import json
import os
import sys

import pytest

import vlgate.plugin.closing
import vlgate.report.allure.writing
import vlgate.report.page.page  # noqa: F401  # imported once, for all runs
from vlgate.report.page.template import templates


def start(job):
    process = os.fork()
    if process:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    output = os.open(job["output"], os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.chdir(job["folder"])
    sys.path.insert(0, job["folder"])
    sys.exit(pytest.main(job["args"]))


if __name__ == "__main__":
    for name in ("page.html", "head.html", "chart.html"):
        templates().get_template(name)  # compiled once, too
    for line in sys.stdin:
        sys.stdout.write(f"{start(json.loads(line))}\n")
        sys.stdout.flush()
