"""Which task catches which defect: the matrix of tasks and models with one defect each, and the claims about it."""
