"""The page of a large run: 200,000 generated cases on 500 photographs, compared with an earlier run of the same cases.

Prints the seconds, the memory and the size of ``report.html`` as ``vlgate report`` writes it, the ratio to reading
``cases.parquet`` alone and, if chromium is there, the time to open the page beside that of an empty one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from PIL import Image
from run_all import Row

TASKS, CASES, PHOTOS = 40, 5_000, 500
WORDS = ("dog", "cat", "man", "woman", "child", "car", "tree", "house", "field", "street", "ball", "red", "green")

MODEL = """
import numpy as np

class Free:
    def __init__(self, seed):
        self.seed = seed

    def match(self, pairs):
        return np.random.default_rng(self.seed + len(pairs)).normal(size=len(pairs))

def one():
    return Free(1)

def two():
    return Free(2)
"""


def main() -> None:
    """Generate, run twice, write the page again, print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generate(folder)
        run(folder, "one")
        run(folder, "two", "--baseline=one")
        start = perf_counter()
        subprocess.run([sys.executable, "-c", READ, str(folder / "two/cases.parquet")], check=True)
        parse = perf_counter() - start
        start = perf_counter()
        process = subprocess.Popen([sys.executable, "-m", "vlgate", "report", "two"], cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = perf_counter() - start
        if status:
            sys.exit("report_page: vlgate report failed")
        spent = usage.ru_utime + usage.ru_stime
        page = folder / "two/report.html"
        print(f"report_page: {TASKS * CASES:,} cases in {seconds:.1f} s ({spent:.1f} s of the processor), bar 20")
        print(f"report_page: peak memory {usage.ru_maxrss / 1024:.0f} MB, bar 1,000")
        print(f"report_page: {page.stat().st_size / 1e6:.1f} MB, bar 15")
        print(Row(what=f"the page of {TASKS * CASES:,} cases against 20 s", ratio=seconds / 20, bar=1, most=True))
        print(Row(what="the page against reading cases.parquet alone, in time", ratio=seconds / parse))
        print(f"report_page: {seconds / parse:.1f} x the time of reading cases.parquet alone ({parse:.2f} s)")
        browser = shutil.which("chromium") or shutil.which("google-chrome")
        if browser:
            empty = folder / "empty.html"
            empty.write_text("<!doctype html><title>empty</title>")
            alone, opened = (min(opening(browser, file) for _ in range(3)) for file in (empty, page))
            print(f"report_page: opens in {opened:.2f} s, an empty page in {alone:.2f} s; bar 1 more")


READ = "import sys; from pyarrow.parquet import read_table; read_table(sys.argv[1])"


def generate(folder: Path) -> None:
    """Write the photographs, smooth noise of the size of a photograph's file, and the cases."""
    generator = np.random.default_rng(0)
    (folder / "data/photos").mkdir(parents=True)
    for number in range(PHOTOS):
        coarse = Image.fromarray(generator.integers(0, 255, (60, 80, 3), dtype=np.uint8))
        coarse.resize((640, 480)).save(folder / f"data/photos/{number}.jpg", quality=90)
    with (folder / "data/cases.jsonl").open("w") as file:
        for index in range(TASKS * CASES):
            task, number = divmod(index, CASES)
            words = [WORDS[at] for at in generator.integers(0, len(WORDS), 9)]
            record = {
                "task": f"mine/task-{task:02}",
                "id": f"{number:05}",
                "image": f"photos/{generator.integers(PHOTOS)}.jpg",
                "caption": " ".join(words),
                "foil": " ".join([*words[:4], "no", *words[5:], str(index)]),
                "tags": {"length": str(number % 7)},
            }
            file.write(json.dumps(record) + "\n")
    (folder / "free_model.py").write_text(MODEL)


def run(folder: Path, name: str, *more: str) -> None:
    """Run the suite as a user would; half of the cases are missed."""
    options = [f"--model=free_model:{name}", "--data=data", "--items=batch", f"--results={name}", "--overwrite", "-q"]
    command = [sys.executable, "-m", "pytest", "--pyargs", "tests_vl", *options, *more]
    subprocess.run(command, cwd=folder, capture_output=True, check=False)
    if not (folder / name / "metrics.json").is_file():
        sys.exit(f"report_page: the run {name!r} wrote no figures")


def opening(browser: str, file: Path) -> float:
    """The seconds that a browser takes to start, open and paint a page, and end."""
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--screenshot={file.with_suffix('.png')}"]
    command = [browser, *flags, file.as_uri()]
    start = perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return perf_counter() - start


if __name__ == "__main__":
    main()
