"""The smallest change of a case, its meaning kept, that makes a model get it wrong."""
