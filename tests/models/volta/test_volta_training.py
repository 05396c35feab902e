"""Models of VOLTA's family after a few training steps."""

import pytest
import torch
import volta_checkpoints as tiny

from vlgate.models.regions.volta import vilbert_mt
from vlgate.models.regions.volta.config import aliases, parse, shapes
from vlgate.models.regions.volta.encoder import Seen, Weights, logits, with_overall
from vlgate.types import Match


@pytest.mark.parametrize("kind", [*tiny.KINDS, "vilbert-12-in-1"])
def test_it_learns_which_logit_is_the_match(tmp_path, kind):
    """After a few training steps with its authors' labels, it scores the true text higher.

    VOLTA's pretraining labels an image's own caption 0 and another one 1; the retrieval tasks of 12-in-1 raise the
    single logit of the true pair above that of the false one.
    """
    multi = kind == "vilbert-12-in-1"
    settings = tiny.MULTI if multi else tiny.config_of(kind)
    words = vilbert_mt.in_words_of_volta(settings, "", head=vilbert_mt.RANKING, task_tokens=20) if multi else settings
    state = tiny.multi_state() if multi else tiny.state_of(settings)
    trained = trained_state(parse(words, "test"), state, vilbert_mt.renamed(settings) if multi else {})
    folder = tiny.save(tmp_path / "saved", settings, trained).parent
    model = tiny.built(folder, kind, "saved?regions=any" if multi else "saved")
    pairs = [
        Match(image=tiny.image(number), text=f"a {tiny.COLORS[(number + wrong) % 2]} square")
        for number in range(6)
        for wrong in (0, 1)
    ]
    true, false = model.match(pairs).reshape(6, 2).T
    assert (true > false).all()
    if not multi:
        assert (true > model.decision_threshold).all()
        assert (false < model.decision_threshold).all()


def trained_state(config, state, renamed):
    """A checkpoint after some training steps: the tensors of ``state``, under its own names."""

    def in_volta(name):
        start, _, last = name.rpartition(".")
        return renamed.get(f"{start}.", f"{start}.") + last

    second = aliases(config)
    weights = {in_volta(name): value.clone() for name, value in state.items() if name not in second}
    for side in "tv":  # otherwise both poolers could be 0, and stay 0
        weights[f"bert.{side}_pooler.dense.bias"] += 1
    train(config, {name: weights[name].requires_grad_() for name in shapes(config)})
    return {name: weights[second.get(name, in_volta(name))].detach() for name in state}


def train(config, weights):
    numbers = range(6)
    regions = [tiny.regions_of(tiny.image(number).key) for number in numbers for _ in range(2)]
    ids = torch.tensor([tiny.ids_of(f"a {color} square") for _ in numbers for color in tiny.COLORS])
    false = torch.tensor([int(number % 2 != color) for number in numbers for color in range(2)])
    features, boxes = (
        torch.nn.utils.rnn.pad_sequence([torch.tensor(getattr(one, name)) for one in regions], batch_first=True)
        for name in ("features", "boxes")
    )
    made = with_overall(config, features, boxes, boxes.any(dim=-1))
    seen = Seen(ids=ids, words=ids > 0, features=made[0], locations=made[1], regions=made[2])
    optimizer = torch.optim.Adam(weights.values(), lr=0.003)
    for _ in range(200):
        out = logits(config, Weights(weights), seen, 8)
        ranks = out.shape[1] == 1
        out, target = (out.view(-1, 2), false.view(-1, 2).argmin(dim=1)) if ranks else (out, false)
        loss = torch.nn.functional.cross_entropy(out, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss < 0.02:
            break
