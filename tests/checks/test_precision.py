import os
from hashlib import sha256
from pathlib import Path

import pytest
from builders import pair_case, tabled, task_of

from vlgate.asking.checks.precision import CASES, check_precision, drawn, lacks_room
from vlgate.types import Prediction

GIB = 2**30


def task(n, name="x/pairs"):
    return task_of((pair_case(i, f"caption {i}", f"foil {i}") for i in range(n)), name)


class Scored:
    """A predictor made of a function of a request."""

    def __init__(self, score):
        self.score, self.calls = score, 0

    def predict(self, requests):
        self.calls += 1
        scores = {request: self.score(request) for request in requests}
        names = {str: "problem"}
        return {one: Prediction(request=one, **{names.get(type(s), "score"): s}) for one, s in scores.items()}


def fine(request):
    return int(sha256(f"{request.image.key} {request.text}".encode()).hexdigest()[:12], 16) / 16**12


def number(request):
    return int(request.text.rpartition(" ")[2])


def checked(half, full=fine, tasks=None, ties="strict"):
    batches = drawn([task(150), task(50, "x/more")] if tasks is None else tasks, ties, 0)
    models = Scored(half), Scored(full)
    found = check_precision(*models, batches, "bfloat16")
    assert [model.calls for model in models] == [1, 1]  # for all tasks
    return found


def test_the_same_scores_are_ok():
    found = checked(fine)
    assert (found.name, found.outcome, found.n, found.share, found.largest) == ("precision", "ok", CASES, 1.0, 0.0)
    assert "0 of 64" in found.why
    assert "0.0% to 5.7% of all cases" in found.why
    twice = checked(lambda r: 2 * fine(r))  # which changes no verdict
    assert twice.outcome == "ok"
    assert 0.5 < twice.largest < 1


def test_verdicts_that_change_are_counted_by_their_direction():
    def full(r):
        return float(r.text.startswith("caption") == (number(r) % 2 == 0))

    def half(r):  # every fourth of the right cases ties, every tenth of the wrong ones becomes right
        return 0.5 if number(r) % 8 == 0 else 1 - full(r) if number(r) % 20 == 1 else full(r)

    batches = drawn([task(150), task(50, "x/more")], "strict", 0)
    numbers = [int(case.id.split()[1]) for batch in batches for case in batch.cases]
    lost, won = sum(n % 8 == 0 for n in numbers), sum(n % 20 == 1 for n in numbers)
    assert lost > 0 < won
    found = checked(half, full)
    assert found.outcome == "suspect"
    assert f"{lost + won} of 64 cases" in found.why
    assert f"({lost} right in float32 only, {won} right in bfloat16 only)" in found.why
    assert (found.share, found.largest) == (1 - (lost + won) / 64, 1.0)


def test_a_tie_is_another_verdict_even_if_it_counts_as_right():
    found = checked(lambda _: 0.5, lambda r: float(r.text.startswith("caption")), ties="credit")
    assert "64 of 64" in found.why
    assert "(0 right in float32 only, 0 right" in found.why


def test_rounding_to_few_bits_is_found_out():
    torch = pytest.importorskip("torch")
    found = checked(
        lambda r: torch.tensor(0.5 + fine(r) / 1000).bfloat16().double().item(), lambda r: 0.5 + fine(r) / 1000
    )
    assert found.outcome == "suspect"
    assert found.share < 0.5


def test_cases_without_a_reply_are_left_out():
    found = checked(lambda r: "out of memory" if number(r) % 2 else fine(r))
    assert found.outcome == "ok"
    assert 0 < found.n < CASES
    none = checked(lambda _: "gone")
    assert (none.outcome, none.n, none.share) == ("not applicable", 0, None)
    assert checked(fine, tasks=()).outcome == "not applicable"


def test_the_sample_is_seeded_and_of_all_cases_alike():
    tasks = [task(300), task(100, "x/small"), task(0, "x/none")]
    batches = drawn(tasks, "half", 1)
    assert sum(len(batch.positions) for batch in batches) == CASES
    assert [batch.task.id for batch in batches] == ["x/pairs", "x/small"]
    assert all(batch.ties == "half" and list(batch.positions) == sorted(set(batch.positions)) for batch in batches)
    assert batches == drawn(tasks, "half", 1) != drawn(tasks, "half", 2)
    shares = [len(drawn(tasks, "half", seed)[1].positions) for seed in range(50)]
    assert sum(shares) / 50 == pytest.approx(CASES / 4, abs=2)
    assert [batch.positions for batch in drawn([task(3)], "strict", 0)] == [(0, 1, 2)]


@pytest.fixture
def machine(tmp_path):
    """The files in which Linux tells of memory."""

    def write(held, free, cgroup="0::/", **groups):
        files = {
            "proc/self/statm": f"99 {held * GIB // os.sysconf('SC_PAGE_SIZE')} 3 1 0 1 0\n",
            "proc/meminfo": f"MemTotal: 1 kB\nMemFree: 1 kB\nMemAvailable:  {free * GIB // 1024} kB\n",
            "proc/self/cgroup": f"5:cpu:/x\n{cgroup}\n",
            **{f"sys/fs/cgroup/{name.replace('__', '/').replace('_0_', '.')}": text for name, text in groups.items()},
        }
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return tmp_path

    return write


def test_room_for_twice_what_is_held_is_enough_if_the_free_memory_is_known(tmp_path, machine):
    assert "is unknown" in lacks_room("cpu", tmp_path)
    assert "is unknown" in lacks_room("mps", machine(1, 99))
    assert lacks_room("cpu", machine(3, 6)) == ""
    message = lacks_room("cpu", machine(3, 5))
    assert "5.0 GiB of memory are free on this machine" in message
    assert "6.0 GiB" in message


@tabled
def test_a_limit_of_any_group_counts(machine, group, folder, names):
    limit, used, idle = names
    groups = {f"{folder}{limit}": f"{10 * GIB}\n", f"{folder}{used}": f"{6 * GIB}\n"}
    groups[f"{folder}memory_0_stat"] = f"anon 5\n{idle} {GIB}\n"
    assert "5.0 GiB of memory are free" in lacks_room("cpu", machine(3, 99, group, **groups))
    groups[f"{folder}{limit}"] = "max\n"
    assert lacks_room("cpu", machine(3, 99, group, **groups)) == ""


def test_both_the_gpu_and_the_machine_need_room(machine, monkeypatch):
    torch = pytest.importorskip("torch")
    held, free = 3 * GIB, 5 * GIB
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda _: held)
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda _: held + GIB)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (free, 99))
    assert lacks_room("cuda:0", machine(1, 6)) == ""
    assert "free on this machine" in lacks_room("cuda:0", machine(1, 5))
    free = 4 * GIB
    assert "5.0 GiB of memory are free on cuda:0" in lacks_room("cuda:0", machine(1, 99))


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="Linux only")
def test_this_machine_says_how_much_is_free():
    assert "is unknown" not in lacks_room("cpu")
