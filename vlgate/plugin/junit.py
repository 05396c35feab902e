"""Properties in ``--junitxml``: the figures of each gate, and the model and the suite of the run."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from _pytest.junitxml import xml_key  # as pytest's fixture record_testsuite_property does; there is no public name

from vlgate.gates.records import Decision
from vlgate.recorded.folder import titled
from vlgate.report.rows import threshold
from vlgate.run.model_card import ModelCard
from vlgate.run.results import RunResult


def gate_properties(run: RunResult, decision: Decision) -> list[tuple[str, object]]:
    """Return the figures of a gate, as pairs of a name and a value; a figure that is not known is left out."""
    gate, metric, change = decision.gate, decision.metric, decision.difference
    result = next((one for one in run.results if one.task.id == gate.task), None)
    found: dict[str, object] = {"decision": decision.outcome, "threshold": threshold(decision)}
    if metric is not None:
        found |= {"value": metric.value, "low": metric.low, "high": metric.high, "n": metric.n}
    if change is not None:
        found |= {"value": change.value, "low": change.low, "high": change.high, "n": change.n}
    if result is not None and change is None:
        found |= {"chance": result.chance.get(gate.metric)}
        found |= {"blind": result.blind[gate.metric].value} if gate.metric in result.blind else {}
    found |= {"confidence": gate.confidence, "kind": gate.kind}
    return [(name, value) for name, value in found.items() if value not in {None, ""}]


def describe_suite(config: pytest.Config, model: ModelCard, verdict: str, plan: Callable[[], str]) -> None:
    """Add the model, the suite and the verdict to the file of ``--junitxml``, if one is written.

    Args:
        config: the configuration of the session.
        model: the model of the run.
        verdict: the verdict on the run.
        plan: returns the digest of the run's cases, which takes a second for very many.
    """
    xml = config.stash.get(xml_key, None)
    if xml is None:
        return
    from vlgate import __version__

    suite = {
        "model": titled(model.name, model.weights),
        "fingerprint": model.fingerprint,
        "suite": plan(),
        "verdict": verdict,
        "vlgate": __version__,
    }
    for what, value in suite.items():
        xml.add_global_property(f"vlgate.{what}", value)
