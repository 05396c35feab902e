"""The commands that read a finished run, on a machine without torch."""

import subprocess
import sys

import pytest

FORMATS = ("csv", "jsonl", "every-eval-ever", "lm-eval")


@pytest.mark.slow
def test_they_need_no_torch(folder, tmp_path):
    gates = tmp_path / "gates.toml"
    gates.write_text('schema = 1\n[gate."scenes/relations".acc_r]\nmin = 0.2\n')
    run = str(folder)
    commands = [
        ["judge", run, f"--thresholds={gates}", f"--results={tmp_path / 'judged'}"],
        ["show", run, "scenes/relations:000"],
        ["misses", run],
        ["compare", run, run],
        *(["export", run, f"--format={name}", f"--to={tmp_path / name}"] for name in FORMATS),
        ["export", run, "--format=hf-eval-results", "--dataset=own=me/own"],
    ]
    modules = ["torch", "torchvision", "transformers", "open_clip"]
    blocked = f"import sys; sys.modules.update(dict.fromkeys({modules!r})); from vlgate.cli import main; "
    script = blocked + f"print([main(command) for command in {commands!r}], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == str([1, *[0] * 8]), done.stderr
    assert (tmp_path / "judged/report.html").is_file()
