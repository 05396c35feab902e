"""What the tests of VOLTA's models share: made-up regions, and no network."""

import pytest
import volta_checkpoints as tiny


@pytest.fixture(autouse=True)
def stub(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("vlgate.models.regions.volta.adapter.region_source", lambda *_, **__: tiny.Stub())
