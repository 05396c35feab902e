"""What the canaries found: the names of faults, and what the evidence is."""

from __future__ import annotations

from dataclasses import dataclass

from vlgate.types import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A fault of a pipeline, with the evidence; ``or_else`` names what has the same evidence."""

    bug: str
    why: str
    or_else: tuple[str, ...] = ()

    @property
    def says(self) -> str:
        """The finding in a sentence.

        >>> Finding(bug="lost image", why="all replies are the same", or_else=("wrong image",)).says
        'lost image, or wrong image: all replies are the same'
        """
        return f"{', or '.join((self.bug, *self.or_else))}: {self.why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What the canaries say about a model.

    Attributes:
        findings: the faults; empty if the pictures arrive as they are.
        recognised: for each canary 1.0 if its own text leads, else 0.0, shape (n,); empty if there is no reply.
        chance: the share that guessing recognises.
        requests: how many requests were asked.
        inapplicable: why nothing can be said; empty if something can.
        notes: what was not looked at, and why.
    """

    findings: tuple[Finding, ...] = ()
    recognised: FloatArray
    chance: float
    requests: int
    inapplicable: str = ""
    notes: tuple[str, ...] = ()
