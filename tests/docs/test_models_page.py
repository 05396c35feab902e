"""The page of models: its tables are those that models.toml decides."""


def test_the_tables_are_what_the_registry_says(scripts):
    script = scripts("write_models")
    text = script.PAGE.read_text(encoding="utf-8")
    assert text == script.page(text), "run: python scripts/write_models.py"
    assert "| `blip-vqa` | `Salesforce/blip-vqa-base` |" in text
    assert "| `first=enc` (the default), `cls` |" in text
