"""A classifier of words: how far true texts and false ones can be told apart without their pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vlgate.types import FloatArray

FOLDS = 5
_ANY_WORD = r"\w+"  # also of one letter, unlike the default
_HASHES = 2**18  # features of the classifier: more than any benchmark here has distinct words and pairs of words


def out_of_fold(true: Sequence[str], false: Sequence[str], groups: Sequence[str]) -> FloatArray:
    """Score texts by logistic regression on words and pairs of neighbours, fitted to texts of other groups.

    Returns: the scores of the true texts, then of the false ones, of shape (2n,); zeros where no word occurs in two
        texts.
    """
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # comes with scikit-learn

    hashes = HashingVectorizer(ngram_range=(1, 2), token_pattern=_ANY_WORD, n_features=_HASHES, norm=None, binary=True)
    every = hashes.transform([*true, *false])
    features = every[:, np.flatnonzero(every.getnnz(axis=0) > 1)]  # what occurs once teaches nothing of other texts
    labels: NDArray[np.bool_] = np.repeat([True, False], len(true))
    scores = np.zeros(len(labels))
    if not features.shape[1]:
        return scores
    with threadpool_limits(limits=1):  # on a busy machine two threads wait for each other: 0.5 s become 30
        for train, test in GroupKFold(FOLDS).split(features, labels, [*groups, *groups]):
            model = LogisticRegression(solver="liblinear", random_state=0).fit(features[train], labels[train])
            scores[test] = model.decision_function(features[test])
    return scores
