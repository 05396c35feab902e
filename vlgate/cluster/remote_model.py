"""A model that is on the actors of a cluster, as the run sees it: with the methods and attributes of the model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from vlgate.cluster.pool import Pool
from vlgate.cluster.records import ASKED, PLAIN, Surface
from vlgate.types import Match


class RemoteModel:
    """Has exactly those methods of the protocols of ``vlgate.types`` that the model on the actors has.

    The methods of ``ASKED`` are called through a ``ClusterCaller`` only.
    """

    def __init__(self, pool: Pool, surface: Surface) -> None:
        """Take the pool, which is started, and what the model shows of itself."""
        self.pool = pool
        self.cut_texts: set[str] = set()
        self.neither: set[Match] = set()
        self.image_names = surface.image_names
        if surface.threshold is not None:
            self.decision_threshold = surface.threshold
        for name in surface.methods:
            if name in ASKED:
                setattr(self, name, partial(self._through_caller, name))
            elif name in PLAIN:
                setattr(self, name, partial(pool.plain, name))
        if surface.prepares:
            self.prepare = partial(self._through_caller, "prepare")

    @property
    def note(self) -> str:
        """What the models note about themselves, how many calls another actor took over, and mixed GPUs."""
        again = self.pool.retried
        said = f"{again} calls were given to another actor of the cluster because one ended" if again else ""
        gpus = sorted({gpu for gpu in self.pool.gpus if gpu})
        mixed = f"scored on GPUs of {len(gpus)} kinds ({', '.join(gpus)}), whose last digits differ" if gpus[1:] else ""
        return "; ".join(filter(None, (self.pool.note(), said, mixed)))

    @staticmethod
    def _through_caller(name: str, _: Sequence[Any]) -> object:
        raise TypeError(f"{name}() of a model on a cluster is called through its ClusterCaller")
