"""What the tests of VOLTA's models share: made-up regions."""

import pytest
import volta_checkpoints as tiny


@pytest.fixture(autouse=True)
def stub(monkeypatch):
    monkeypatch.setattr("vlgate.models.regions.volta.adapter.region_source", lambda *_, **__: tiny.Stub())
