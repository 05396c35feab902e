"""The batch size that fits a model on a device: found once, as memory runs out, and remembered for the next run."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from vlgate.models.checkpoints.device import device_name
from vlgate.models.loading.registry import LoadedModel

FILE = "batch-sizes.json"
MOST = 500
"""How many models and devices are remembered; those that were noted first make room."""


@dataclass(slots=True, kw_only=True)
class BatchSizes:
    """What is remembered of one model on one device, in a file that all runs of a user share.

    ``damaged`` says what is wrong with the file; empty for nothing. A file that cannot be read or written only costs
    the time to find the size again.
    """

    file: Path
    key: str
    default: int
    damaged: str = field(default="", init=False)
    remembered: int | None = field(default=None, init=False)

    def first(self) -> int:
        """Return the batch size to begin with: the one that an earlier run ended with, or else the default."""
        size = self._read().get(self.key)
        self.remembered = size if size is not None and size < self.default else None
        return self.remembered or self.default

    def halved(self, size: int) -> None:
        """Note a smaller batch size, as soon as memory has run out with twice as many items."""
        kept = {key: other for key, other in self._read().items() if key != self.key}
        content = dict([*kept.items(), (self.key, size)][-MOST:])
        part = self.file.with_name(f".{self.file.name}.{os.getpid()}.part")
        with suppress(OSError):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
            part.replace(self.file)  # whole or not at all; of two processes that write at once, one finds it again

    def note(self, size: int) -> str:
        """Return a note for the readers of the results about the size that a run ended with; empty for the default."""
        said = [self.damaged] if self.damaged else []
        if size < self.default:
            when = "in an earlier run" if size == self.remembered else "in this run"
            said.append(
                f"the model got at most {size} requests at a time, because memory ran out with more {when}; "
                f"give --batch-size={self.default} to try more once, or delete {self.file} to forget all sizes"
            )
        return "; ".join(said)

    def _read(self) -> dict[str, int]:
        self.damaged = ""
        try:
            content = json.loads(self.file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            self.damaged = f"{self.file} cannot be read ({error}), so no batch size is known; delete it"
            return {}
        right = isinstance(content, dict) and all(type(size) is int and size > 0 for size in content.values())
        if not right:
            self.damaged = f"{self.file} holds no batch sizes, so none is known; delete it"
            return {}
        return dict(content)


def batch_sizes(loaded: LoadedModel, default: int) -> BatchSizes:
    """Return what is remembered of a model on its device."""
    from platformdirs import user_cache_path

    workers = os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")  # which share a device
    key = f"{loaded.fingerprint} {device_name(loaded.device)} {workers}"
    return BatchSizes(file=user_cache_path("vlgate", appauthor=False) / FILE, key=key, default=default)
