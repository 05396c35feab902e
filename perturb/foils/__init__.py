"""Captions and foils, made from parsed captions, questions with answers, dialogs and role frames as in VALSE."""
