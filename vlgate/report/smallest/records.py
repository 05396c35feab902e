"""The records of the section that shows the smallest changes that break the model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A request of a found case before and after the change: its image, its text with choices, and the reply.

    A ``picture`` is a data URI; empty if the image cannot be shown. ``changed`` is whether the text is another one.
    """

    truth: str
    picture: str
    text: str
    reply: str
    changed_picture: str
    changed_text: str
    changed_reply: str

    @property
    def changed(self) -> bool:
        """Whether the change replaced the text."""
        return self.text != self.changed_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A case with the smallest change that was found: what it is, its size, and the margins before and after."""

    task: str
    case: str
    says: str
    why: str
    cause: str
    size: str
    margins: str
    seed: str
    requests: tuple[Said, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Founds:
    """The finds of a page, of ``all`` that the run has, and their causes with the number of each."""

    shown: tuple[Found, ...] = ()
    all: int = 0
    causes: tuple[str, ...] = ()
