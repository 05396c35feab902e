"""Ways of running a gate that is built on pytest: selections, plugins, xdist, the environment, and spoilt data.

Each way is run on a good model and on one that has every number wrong. The bad one must never end with status 0. The
good one must end with 0 if the way leaves nothing out (``whole``). If the way leaves something out, it must not end
with 0 either, because nobody knows whether it is good; a gate that has a word for this must say so, and not that the
model failed. ``whole`` is None if both are right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from attacks import plugins, spoils

BAD = "bad_causes:half_of_the_tasks"
GOOD = "good:plain"
RESULTS = "results"


def _nothing(folder: Path) -> None:
    """Leave a folder as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way of running.

    ``args`` are added to the gate's command, and an argument of it that begins with ``without`` is taken away; ``env``
    is added to the environment; ``files`` are written into the folder, in which ``folder`` names the current one;
    ``spoil`` changes the data; ``before`` is a run that comes first, with its own ``model``, into ``before_results``.
    """

    name: str
    about: str
    whole: bool | None = True
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    folder: str = "."
    without: str = ""
    spoil: Callable[[Path], None] = _nothing
    before: Way | None = None
    before_results: str = "earlier"
    model: str = GOOD

    def prepare(self, folder: Path) -> None:
        """Make the folder of a run what this way needs."""
        self.spoil(folder)
        for name, text in self.files.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        (folder / self.folder).mkdir(exist_ok=True)


PLAIN = Way(name="plain", about="as it is")


def _way(name: str, about: str, *args: str, **more: object) -> Way:
    return Way(name=name, about=about, args=args, **more)  # type: ignore[arg-type]


def _part(name: str, about: str, *args: str, **more: object) -> Way:
    return _way(name, about, *args, whole=False, **more)


def _plugin(name: str, about: str, text: str, *args: str, whole: bool | None = True) -> Way:
    return _way(name, about, "-p", "odd_plugin", *args, whole=whole, files={"odd_plugin.py": text})


_UNSURE = Way(name="unsure", about="a model that raises for one image", model="bad_raises:one_image")
_STEP = Way(name="step", about="a first step", args=("--sw",), model=_UNSURE.model)

SELECTIONS = (
    _part("keyword", "-k leaves one task out", "-k", "not counting"),
    _part("keyword-of-nothing", "-k selects nothing", "-k", "there_is_no_such_test"),
    _part("marker", "-m leaves a capability out", "-m", "invariance"),
    _part("node", "only one test is named", "--deselect=tests_vl/test_foil.py", "-k", "colours"),
    _part("first-failure", "-x after a failure of the model's task", "-x", "-k", "existence"),
    _part("last-failed", "--lf after a run with failures", "--lf", before=_UNSURE),
    _way("failed-first", "--ff after a run with failures", "--ff", before=_UNSURE),
    _way("new-first", "--nf", "--nf"),
    _way("stepwise", "--sw after a run with a failure", "--sw", before=_STEP, whole=None),
    _part("limit", "--limit leaves too few cases for an interval", "--limit=5"),
    _part("quick", "--quick asks a sample of each task", "--quick"),
    _part("collect-only", "--collect-only asks nothing", "--collect-only"),
    _part("setup-only", "--setup-only runs the fixtures only", "--setup-only"),
    _part("setup-plan", "--setup-plan runs nothing", "--setup-plan"),
    _part("addopts", "PYTEST_ADDOPTS leaves one task out", env={"PYTEST_ADDOPTS": "-k existence"}),
    _part("ini", "an ini file leaves one task out", files={"pytest.ini": "[pytest]\naddopts = -k existence\n"}),
    _part(
        "ini-names", "an ini file names no function a test", files={"pytest.ini": "[pytest]\npython_functions = x_*\n"}
    ),
    _part("conftest-filters", "a conftest removes items", files={"conftest.py": plugins.FILTERS}),
    _part("conftest-empties", "a conftest removes all items", files={"conftest.py": plugins.EMPTIES}),
    _part("conftest-skips", "a conftest marks items as skipped", files={"conftest.py": plugins.marks("skip")}),
    _part(
        "conftest-xfails",
        "a conftest marks items as not to run",
        files={"conftest.py": plugins.marks("xfail(run=False)")},
    ),
    _way("conftest-orders", "a conftest shuffles the items", files={"conftest.py": plugins.SHUFFLES}),
    _way("credit", "--ties=half", "--ties=half"),
    _way("first-run", "--baseline=first says that there is no earlier run", "--baseline=first"),
    _part("search", "-m shrink searches for smallest changes only", "-m", "shrink", "--shrink-cases=1"),
    _part("unknown-marker", "-m names a marker that no test has", "-m", "search"),
    _part("last-failed-none", "--lf after nothing failed selects nothing", "--lf", "--lfnf=none"),
    _part("unnamed-suite", "the command names no test", without="tests_vl"),
)

EMPTY = (
    _part("empty-model", "--model= of a variable that is not set", "--model=", without="--model"),
    _part("blank-model", "--model= of a variable that holds a blank", "--model= ", without="--model"),
    _part("empty-data", "--data= of a variable that is not set", "--data=", without="--data"),
    _part("empty-thresholds", "--thresholds= of a variable that is not set", "--thresholds=", without="--thresholds"),
    _part("empty-suite", "--suite= of a variable that is not set", "--suite="),
    _part("half-suite", "--suite= of two variables, one of which is not set", "--suite=,valse/*"),
    _part("empty-limit", "--limit= of a variable that is not set", "--limit="),
    _part("empty-baseline", "--baseline= of a variable that is not set", "--baseline="),
    _part("empty-variable", "VLGATE_DATA is empty", env={"VLGATE_DATA": ""}, without="--data"),
    _part("empty-key", "an ini file has an empty key", files={"pytest.ini": "[pytest]\nvlgate_suite =\n"}),
)

LISTS = (
    _part("fixtures", "PYTEST_ADDOPTS lists the fixtures", env={"PYTEST_ADDOPTS": "--fixtures"}),
    _part(
        "fixtures-per-test", "an ini file lists them", files={"pytest.ini": "[pytest]\naddopts = --fixtures-per-test\n"}
    ),
    _part("help", "PYTEST_ADDOPTS shows the help", env={"PYTEST_ADDOPTS": "--help"}),
    _part("markers", "an ini file lists the markers", files={"pytest.ini": "[pytest]\naddopts = --markers\n"}),
    _part("versions", "PYTEST_ADDOPTS shows versions", env={"PYTEST_ADDOPTS": "-VV"}),
    _part("list", "PYTEST_ADDOPTS lists the tests", env={"PYTEST_ADDOPTS": "--collect-only"}),
)

PLUGINS = (
    _plugin("sets-status", "a plugin sets the exit status to 0", plugins.STATUS),
    _plugin("passes-all", "a plugin reports every test as passed", plugins.PASSES),
    _plugin("reruns", "a plugin runs each failed test again", plugins.RERUNS),
    _plugin("repeats", "a plugin runs each test twice", plugins.REPEATS),
    _part("own-model", "a conftest has a fixture of the name model", files={"conftest.py": plugins.MODEL}),
    _plugin("swallows", "a plugin replaces the loop over the tests and runs none", plugins.LOOP, whole=False),
    _plugin("ends-first", "a plugin returns 0 before the session", plugins.ENDS_FIRST, whole=False),
    _plugin("ends-last", "a plugin returns 0 after the session", plugins.ENDS_LAST, whole=None),
    _plugin("ends-start", "a plugin exits with 0 as the session starts", plugins.ENDS_START, whole=False),
    _plugin("ends-report", "a plugin exits with 0 at the first report", plugins.ENDS_REPORT, whole=False),
    _plugin("ends-status", "a plugin exits with 0 as it names a status", plugins.ENDS_STATUS, whole=False),
    _part("conftest-ends", "a conftest exits with 0 before the session", files={"conftest.py": plugins.EXITS}),
    _way("no-xdist", "without xdist", "-p", "no:xdist"),
    _way("no-cache", "without the cache", "-p", "no:cacheprovider"),
    _way("no-capture", "with nothing captured", "-s"),
    _way("no-logging", "without logging", "-p", "no:logging"),
    _part("no-runner", "without what runs the tests", "-p", "no:runner"),
    _part("no-python", "without what collects the tests", "-p", "no:python"),
    _way("no-terminal", "without the terminal's report", "-p", "no:terminal", "-p", "no:terminalprogress"),
    _way("no-summary", "without a summary", "--no-summary", "-qq", "--tb=no"),
    _part("no-plugins", "installed plugins are not loaded", env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}),
)

WORKERS = (
    _way("workers-0", "-n 0", "-n", "0"),
    _way("workers-1", "-n 1", "-n", "1"),
    _way("load", "--dist load", "-n", "2", "--dist", "load"),
    _way("loadfile", "--dist loadfile", "-n", "2", "--dist", "loadfile"),
    _way("loadscope", "--dist loadscope", "-n", "2", "--dist", "loadscope"),
    _way("loadgroup", "--dist loadgroup", "-n", "2", "--dist", "loadgroup"),
    _way("worksteal", "--dist worksteal", "-n", "2", "--dist", "worksteal"),
    _way("each", "--dist each: every worker asks everything", "-n", "2", "--dist", "each"),
    _plugin("killed-worker", "a worker is killed", plugins.KILLS, "-n", "2", whole=False),
    _plugin(
        "not-replaced", "a killed worker is not replaced", plugins.KILLS, "-n2", "--max-worker-restart=0", whole=False
    ),
    _part("other-data", "a worker reads other data", "-n", "1", files={"conftest.py": plugins.CHANGES}),
    _part("workers-select", "-k with workers", "-n", "2", "-k", "existence"),
    _plugin("workers-stop", "--maxfail with workers", plugins.FAILS, "-n", "2", "--maxfail=1", whole=False),
)

PLACES = (
    _way("warnings", "-W error", "-W", "error"),
    _way("optimised", "PYTHONOPTIMIZE=2", env={"PYTHONOPTIMIZE": "2"}),
    _way("hash-seed", "another PYTHONHASHSEED", env={"PYTHONHASHSEED": "12345"}),
    _way("developer", "PYTHONDEVMODE=1", env={"PYTHONDEVMODE": "1"}),
    _way(
        "ascii", "a locale without other letters", env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    ),
    _way("no-home", "without a home", env={"HOME": "/nonexistent", "TERM": "dumb", "COLUMNS": "20"}),
    _way("other-folder", "started in a folder below", folder="below"),
    _way("other-root", "--rootdir elsewhere", "--rootdir=/"),
    _way(
        "strict-ini",
        "an ini file in which warnings are errors",
        files={"pytest.ini": "[pytest]\nfilterwarnings = error\naddopts = --strict-markers\n"},
    ),
    _way("importlib", "--import-mode=importlib", "--import-mode=importlib"),
    _part("used-results", "into the results folder of another run", before=PLAIN, before_results=RESULTS),
)

DATA = (
    _part(
        "images-dropped",
        "half of the images are missing, and skipped",
        "--missing-images=skip",
        spoil=spoils.drop_images,
    ),
    _part(
        "some-images-dropped",
        "some images are missing, and skipped",
        "--missing-images=skip",
        spoil=spoils.drop_some_images,
    ),
    _part("images-missing", "some images are missing", spoil=spoils.drop_some_images),
    _part("images-cut", "some images are cut", spoil=spoils.cut_images),
    _part("file-dropped", "the file of a task is missing", spoil=spoils.drop_file),
    _part("file-empty", "the file of a task is empty", spoil=spoils.empty_file),
    _part("file-cut", "the file of a task is cut", spoil=spoils.cut_file),
    _part("one-record", "a task holds one record many times", spoil=spoils.repeat_one),
    _part("few-records", "a task holds five records", spoil=spoils.few_records),
    _part("no-gates", "the thresholds hold no gate", spoil=spoils.no_gates),
    _part("no-thresholds", "there are no thresholds", spoil=spoils.no_thresholds, without="--thresholds"),
    _part("wrong-thresholds", "the command names thresholds that are not there", spoil=spoils.thresholds_elsewhere),
    _part(
        "thresholds-elsewhere",
        "the thresholds are in a folder that nobody named",
        spoil=spoils.thresholds_elsewhere,
        without="--thresholds",
    ),
    _part("thresholds-cut", "the thresholds are cut", spoil=spoils.cut_thresholds),
    _part("no-bounds", "the gates ask for 0 or more", spoil=spoils.no_bounds),
    _part("copied-image", "a task holds one image under many names", spoil=spoils.copy_image),
    _part("encoded-image", "a task holds one image in many files that differ", spoil=spoils.encode_image),
    _part("disputed", "an eighth of a task is disputed", "--disputes=disputes.jsonl", spoil=spoils.dispute),
)

WAYS = (*SELECTIONS, *EMPTY, *LISTS, *PLUGINS, *WORKERS, *PLACES, *DATA)
