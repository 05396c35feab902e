"""What asks the model again: controls, explanations of missed cases, the smallest changes that break a case."""
