"""Cross encoders that read pixels and text together and score a pair with a matching head."""
