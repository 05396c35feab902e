"""The perplexity of each text, from the run of a language model on the same tasks."""

from __future__ import annotations

from vlgate.analyses.runs import Run
from vlgate.errors import OptionError
from vlgate.metrics.names import HEADLINE

_TEXT_SHAPES = tuple(metric for shape, metric in HEADLINE.items() if shape != "questions")


def perplexities(reader: Run) -> dict[str, float]:
    """Return the perplexity of each text that the run of a language model scored.

    Raises: OptionError if the run is not one of a language model: its scores must be minus the perplexities.
    """
    if "minus the perplexity" not in reader.figures["model"].get("adapters", {}).get("Match", ""):
        model = f"{reader.name} does not score texts by their perplexity"
        raise OptionError(f"--perplexity: {model}; name the run of a language model, such as --model=gpt2")
    found: dict[str, float] = {}
    for cases in reader.tasks.values():
        if cases.shape in _TEXT_SHAPES:
            for texts, scores in zip(cases.texts, cases.scores.tolist(), strict=True):
                found |= {text: -score for text, score in zip(texts, scores, strict=True) if score < 0}
    return found
