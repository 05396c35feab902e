"""The command ``vlgate`` itself: its commands, its help, and how it ends."""

import subprocess
import sys
from pathlib import Path

import pytest
from builders import table

from vlgate import __version__
from vlgate.cli import COMMANDS, main

ROOT = Path(__file__).parents[2]


def test_it_is_installed_under_its_name():
    command = Path(sys.executable).with_name("vlgate")
    if not command.exists():
        pytest.skip("vlgate is not installed")
    ended = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (0, f"vlgate {__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "status", "out", "err"),
    [
        (["--version"], 0, f"vlgate {__version__}\n", ""),
        (["models", "siglib"], 4, "", "did you mean 'siglip'"),
        ([], 4, "", "usage: vlgate"),
    ],
)
def test_python_m_vlgate_is_the_same_command(arguments, status, out, err):
    command = [sys.executable, "-m", "vlgate", *arguments]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (status, out)
    assert err in ended.stderr


def test_a_place_that_cannot_be_written_is_an_error_in_one_line(tmp_path, monkeypatch, capsys, vlgate):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    assert main(["init"]) == 0
    monkeypatch.setattr("vlgate.cli.init.run", lambda _: (tmp_path / "file" / "inner").mkdir())
    capsys.readouterr()
    said = vlgate("init", status=4)
    assert said.count("\n") == 1
    assert str(tmp_path / "file" / "inner") in said


@pytest.mark.parametrize("name", COMMANDS)
def test_an_option_that_is_none_ends_every_command_with_4(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--no-such-option"])
    assert ended.value.code == 4
    said = capsys.readouterr().err
    assert said.startswith(f"usage: vlgate {name} ")
    assert f"vlgate {name}: error: " in said


@pytest.mark.parametrize(("arguments", "says"), table(Path(__file__).with_name("wrong_options.tsv")))
def test_what_cannot_be_used_ends_a_command_with_4(arguments, says, folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    try:
        status = main(arguments.format(run=folder).split())
    except SystemExit as ended:
        status = ended.code
    said = capsys.readouterr().err
    assert (status, says in said, "Traceback" in said) == (4, True, False), said
    assert not any(tmp_path.iterdir())
