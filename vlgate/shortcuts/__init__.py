"""Shortcuts: how surely the texts of each case give its truth away, by probes that learn from other images only."""
