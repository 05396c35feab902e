"""The tasks about the drawn scenes."""
