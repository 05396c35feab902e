"""Models that change the pairs they are given, or lose count of them."""

import random

import eyes


def sorts():
    """Sorts the pairs in place, and returns the scores in the new order."""

    def match(pairs):
        pairs.sort(key=lambda pair: pair.text)
        return eyes.fits(pairs)

    return eyes.with_match(match)


def sorts_a_copy():
    """Sorts a copy of the pairs by length of text, and returns the scores in that order."""
    return eyes.with_match(lambda pairs: eyes.fits(sorted(pairs, key=lambda pair: (pair.text, pair.image.key))))


def shuffles():
    """Shuffles the pairs in place."""

    def match(pairs):
        random.shuffle(pairs)
        return eyes.fits(pairs)

    return eyes.with_match(match)


def shuffles_a_copy():
    """Shuffles a copy of the pairs."""
    return eyes.with_match(lambda pairs: eyes.fits(random.sample(pairs, len(pairs))))


def takes_away():
    """Takes the pairs out of the list that it was given."""

    def match(pairs):
        scores = []
        while pairs:
            scores.append(eyes.fit(pairs.pop()))
        return scores

    return eyes.with_match(match)


def distinct():
    """Scores each distinct text once."""
    return eyes.with_match(lambda pairs: eyes.fits({pair.text: pair for pair in pairs}.values()))


def reversed_order():
    """Returns the scores in reverse order."""
    return eyes.with_match(lambda pairs: eyes.fits(pairs)[::-1])


def off_by_one():
    """Returns each score one place too late."""
    return eyes.with_match(lambda pairs: [*eyes.fits(pairs)[-1:], *eyes.fits(pairs)[:-1]])


def rewrites_texts():
    """Writes its own text into the pairs, and scores that."""

    def match(pairs):
        for pair in pairs:
            pair.text = eyes.seen(pair.image)[0]
        return eyes.fits(pairs)

    return eyes.with_match(match)


def drops_some():
    """Leaves out the pairs that are hard, without a word."""
    return eyes.with_match(lambda pairs: [fit for fit in eyes.fits(pairs) if fit != 0])
