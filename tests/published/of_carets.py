"""What must hold between the figures of CARETS."""

from relations import Relation, at_most, half, mean, mixture, same, share, total

TESTS = ("rephrase-inv", "order-inv", "ontological-inv", "antonym-dir", "negation-dir")
FULL = {f"carets/{test}": str(table) for table, test in enumerate(TESTS, 8)}


def carets(book):
    for target, table in FULL.items():
        yield from whole_tables(book, target, table)
    for figure in book.some("1"):
        if figure.target in FULL:
            yield same(figure, book.one(FULL[figure.target], model=figure.model, metric="cons"))
    yield from answers(book)
    yield from augmented(book)
    yield from ontological(book)
    yield from connectives(book)
    yield from visual(book)
    yield from counts(book)


def whole_tables(book, target, table):
    for acc in book.some(table, metric="acc"):
        original, perturbed, cons, c_acc = (
            book.one(table, model=acc.model, metric=metric)
            for metric in ("acc_original", "acc_perturbed", "cons", "c_acc")
        )
        yield mean(acc, [original, perturbed], rule="mean of both sides")
        yield at_most(c_acc, [(1, original)], rule="Original ACC")
        yield at_most(c_acc, [(1, perturbed)], rule="Perturbed ACC")
        yield from pairs(acc, cons, c_acc, invariant=target.endswith("-inv"))
        if target == "carets/antonym-dir" and acc.model != "human":
            yield from (share(figure, 5000) for figure in (original, perturbed, cons, c_acc))


def pairs(acc, cons, c_acc, *, invariant):
    """Both right is consistent; so is, at most, both wrong, whose share follows from ACC and C-ACC."""
    yield at_most(c_acc, [(1, acc)], rule="ACC")
    yield at_most(acc, [(0.5, c_acc)], constant=0.5, rule="(1 + C-ACC) / 2")
    yield at_most(c_acc, [(1, cons)], rule="CONS")
    if invariant:
        yield at_most(cons, [(2, c_acc), (-2, acc)], constant=1, rule="1 + 2 C-ACC - 2 ACC")


def answers(book):
    """Table 18 in detail, Tables 8 and 9 as its mixtures by Table 6, Table 4 as its mixture over both tests."""
    kinds = ("answers=binary", "answers=multi-choice")
    tests = ("carets/rephrase-inv", "carets/order-inv")
    size = {(target, kind): round(book.one("6", target=target, slice=kind).value) for target in tests for kind in kinds}
    for target in tests:
        for figure in book.some(FULL[target]):
            if figure.metric in {"acc", "cons", "c_acc"}:
                where = {"model": figure.model, "target": target, "metric": figure.metric}
                parts = [(size[target, kind], book.one("18", slice=kind, **where)) for kind in kinds]
                yield mixture(figure, parts, rule="mixture of Table 18 by Table 6")
        for acc in book.some("18", target=target, metric="acc"):
            cons, c_acc = (
                book.one("18", target=target, model=acc.model, slice=acc.slice, metric=metric)
                for metric in ("cons", "c_acc")
            )
            yield from pairs(acc, cons, c_acc, invariant=True)
    for figure in (figure for kind in kinds for figure in book.some("4", slice=kind)):
        where = {"model": figure.model, "slice": figure.slice, "metric": figure.metric}
        parts = [(size[target, figure.slice], book.one("18", target=target, **where)) for target in tests]
        yield mixture(figure, parts, rule="mixture of Table 18")
    yield choices(book)


def choices(book):
    """Multiple choice is a mixture of two and three choices, by one and the same weight in each column of Table 4."""
    low, high = 0.0, 1.0
    for column in ("ACC", "CONS", "C-ACC", "Human ACC"):
        both, two, three = (
            book.one("4", column=column, slice=part) for part in ("answers=multi-choice", "choices=2", "choices=3")
        )
        gap = two.value - three.value
        weight, open_ = (both.value - three.value) / gap, (half(both) + half(two)) / abs(gap)
        low, high = max(low, weight - open_), min(high, weight + open_)
    return Relation("carets 4: one weight of two choices in all columns", low - high, 0.0)


def augmented(book):
    for figure in book.some("5"):
        if not figure.metric.endswith("_gain"):
            gain = book.one("5", target=figure.target, metric=f"{figure.metric}_gain")
            before = book.one(FULL[figure.target], model="LXMERT", metric=figure.metric)
            yield total(figure, [(1, before), (1, gain)], rule="LXMERT + gain")
    for target in FULL:
        acc, cons, c_acc = (book.one("5", target=target, metric=metric) for metric in ("acc", "cons", "c_acc"))
        yield from pairs(acc, cons, c_acc, invariant=target.endswith("-inv"))


def ontological(book):
    for figure in book.some("2"):
        if figure.slice is None:
            yield same(figure, book.one("10", model=figure.model, metric=figure.metric))
    for figure in book.some("10", metric="cons"):
        yield mean(figure, book.some("2", model=figure.model, metric="cons"), rule="mean of hypernyms and hyponyms")


def connectives(book):
    """Half of the binary pairs of order invariance are conjunctions, half disjunctions."""
    for figure in [*book.some("3", column="Con. ACC"), *book.some("3", column="Dis. ACC"), *book.some("section 6")]:
        if figure.table == "3":
            sides = [book.one("3", model=figure.model, column=column) for column in ("Con. ACC", "Dis. ACC")]
        else:
            sides = book.some("section 6")
        where = {"target": "carets/order-inv", "model": figure.model, "metric": figure.metric}
        binary = book.one("18", slice="answers=binary", **where)
        yield mean(binary, sides, rule=f"mean of both connectives in {figure.table}, {figure.column}")
    for yes in book.some("3", metric="replies_yes"):
        where = {"model": yes.model, "slice": yes.slice}
        no, other = (book.one("3", metric=f"replies_{reply}", **where) for reply in ("no", "other"))
        yield total(yes, [(-1, no), (-1, other)], constant=1, rule="1 - no - other")


def visual(book):
    """An answer that differs in rightness differs: the accuracies are as far apart as CONS leaves room for."""
    for original in book.some("7", metric="acc_original"):
        cons = book.one("1", model=original.model, target="carets/visual-inv")
        perturbed = book.some("7", model=original.model, metric="acc_perturbed")
        parts = [(1 / 5, figure) for figure in perturbed]
        yield at_most(original, [*parts, (-1, cons)], constant=1, rule="Perturbed ACC + 1 - CONS")


def counts(book):
    for figure in book.some("6", column="Total"):
        parts = [part for part in book.some("6", target=figure.target) if part.slice]
        yield total(figure, [(1, part) for part in parts], rule="sum of both kinds")
