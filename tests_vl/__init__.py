"""The tests that ask a model: one test per capability, one pytest item per batch of cases."""
