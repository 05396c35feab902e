"""What happens to data: each function changes a folder that ``drawn.draw`` filled."""

from __future__ import annotations

import json
import shutil
from pathlib import Path


def drop_images(folder: Path) -> None:
    """Remove the images of the records about numbers that are hard: half of all images."""
    for index in range(12):
        (folder / f"data/images/vg/{100 + index}.jpg").unlink()


def drop_some_images(folder: Path) -> None:
    """Remove five of 24 images."""
    for index in range(5):
        (folder / f"data/images/vg/{100 + index}.jpg").unlink()


def drop_file(folder: Path) -> None:
    """Remove the file of one task."""
    (folder / "data/valse/counting-hard.json").unlink()


def empty_file(folder: Path) -> None:
    """Leave no record in the file of one task."""
    (folder / "data/valse/counting-hard.json").write_text("{}", encoding="utf-8")


def cut_file(folder: Path) -> None:
    """Cut the file of one task, as an interrupted copy does."""
    file = folder / "data/valse/counting-hard.json"
    file.write_bytes(file.read_bytes()[:5000])


def cut_images(folder: Path) -> None:
    """Cut some images, as an interrupted copy does."""
    for index in range(5):
        file = folder / f"data/images/vg/{100 + index}.jpg"
        file.write_bytes(file.read_bytes()[:300])


def repeat_one(folder: Path) -> None:
    """Repeat one record of a task under other names, in place of all others."""
    file = folder / "data/valse/counting-hard.json"
    records = json.loads(file.read_text(encoding="utf-8"))
    [first] = list(records.values())[:1]
    file.write_text(json.dumps(dict.fromkeys(records, first)), encoding="utf-8")


def few_records(folder: Path) -> None:
    """Keep five records of one task."""
    file = folder / "data/valse/counting-hard.json"
    records = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(dict(list(records.items())[:5])), encoding="utf-8")


def no_gates(folder: Path) -> None:
    """Leave no gate in the thresholds."""
    (folder / "thresholds.toml").write_text("schema = 1\n", encoding="utf-8")


def no_thresholds(folder: Path) -> None:
    """Remove the thresholds."""
    (folder / "thresholds.toml").unlink()


def cut_thresholds(folder: Path) -> None:
    """Cut the thresholds in the middle of a gate."""
    file = folder / "thresholds.toml"
    file.write_text(file.read_text(encoding="utf-8")[:-5], encoding="utf-8")


def thresholds_elsewhere(folder: Path) -> None:
    """Move the thresholds to a folder below."""
    (folder / "gates").mkdir()
    (folder / "thresholds.toml").rename(folder / "gates/thresholds.toml")


def no_bounds(folder: Path) -> None:
    """Ask for 0 in each gate, which every model reaches."""
    file = folder / "thresholds.toml"
    file.write_text(file.read_text(encoding="utf-8").replace("min = 0.7", "min = 0.0"), encoding="utf-8")


def copy_image(folder: Path) -> None:
    """Repeat one record of a task, each time about a copy of its image under another name."""
    file = folder / "data/valse/counting-hard.json"
    records = json.loads(file.read_text(encoding="utf-8"))
    first = next(iter(records.values()))
    for index, name in enumerate(records):
        records[name] = {**first, "image_file": f"v7w_{200 + index}.jpg"}
        shutil.copy(folder / "data/images/vg/100.jpg", folder / f"data/images/vg/{200 + index}.jpg")
    file.write_text(json.dumps(records), encoding="utf-8")


def encode_image(folder: Path) -> None:
    """Do as ``copy_image`` does, with files of other contents that decode to the same pixels."""
    from PIL import Image

    copy_image(folder)
    pixels = Image.open(folder / "data/images/vg/100.jpg").convert("RGB")
    for index in range(24):
        pixels.save(folder / f"data/images/vg/{200 + index}.jpg", ("PNG", "BMP", "TIFF")[index % 3])


def dispute(folder: Path) -> None:
    """Call three of the 24 cases of a task ambiguous."""
    lines = [
        {
            "task": "valse/counting-balanced",
            "case": f"counting-hard_{index:02}",
            "claim": "ambiguous",
            "evidence": "odd",
        }
        for index in range(3)
    ]
    (folder / "disputes.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
