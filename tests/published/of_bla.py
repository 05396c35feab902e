"""What must hold between the figures of BLA."""

from itertools import combinations, permutations

from relations import Book, at_least, at_most, exactly, mixture, quotient, same, share, total

ACTIVE = "bla/active-passive"
# Of a set's sentences: true_1, true_2, false_1, false_2.
SENTENCES = {"7.1": ("ta", "tp", "fa", "fp"), "7.3": ("ta", "tp", "fa", "fp"), "7.4": ("tp1", "tp2", "fp1", "fp2")}
ORDERS = list(permutations(range(4)))
RIGHT = sum(set(order[:2]) == {0, 1} for order in ORDERS)
PLACED = sum((sentence in order[:2]) == (sentence < 2) for order in ORDERS for sentence in range(4))
CHANCE = {"sen_acc": PLACED / (4 * len(ORDERS)), "set_acc": RIGHT / len(ORDERS), "set_error": RIGHT / len(ORDERS)}


def bla(book):
    sizes = {(figure.target, None): round(figure.value) for figure in book.some("4.6")}
    sizes |= {(ACTIVE, figure.slice): round(figure.value) for figure in book.some("section 7.1.3")}
    parts = [(1, figure) for figure in book.some("section 7.1.3")]
    yield total(book.one("4.6", target=ACTIVE), parts, rule="sum of the predicates")
    for figure in (figure for table in ("6.3", "7.1", "7.2", "7.3", "7.4") for figure in book.some(table)):
        if figure.model == "chance":
            yield exactly(figure, CHANCE.get(figure.metric, 0.5), rule="chance")
        else:
            # sen_acc is of a set's true and false sentences alike: one of each pair of a true and a false one.
            yield share(figure, sizes[figure.target, figure.slice] * (2 if figure.metric == "sen_acc" else 1))
    yield from ranked(book)
    yield from by_predicate(book, sizes)
    yield from preferences(book)
    yield from people(book)
    yield from elsewhere(book)


def ranked(book):
    for table in ("6.3", "7.2"):
        for sen_acc in (figure for figure in book.some(table, metric="sen_acc") if figure.model != "chance"):
            where = {"model": sen_acc.model, "column": sen_acc.column}
            set_acc, set_error = (book.one(table, metric=metric, **where) for metric in ("set_acc", "set_error"))
            rule = "0.5 + (set_acc - set_error) / 2"
            yield total(sen_acc, [(0.5, set_acc), (-0.5, set_error)], constant=0.5, rule=rule)


def by_predicate(book, sizes):
    for table, before in (("7.2", "6.3"), ("7.3", "7.1")):
        for figure in (figure for figure in book.some(table, column="ALL") if figure.model != "chance"):
            where = {"model": figure.model, "metric": figure.metric}
            parts = [(sizes[ACTIVE, part.slice], part) for part in book.some(table, **where) if part.slice]
            yield mixture(figure, parts, rule="mixture of the predicates")
            yield same(figure, book.one(before, target=ACTIVE, **where))


def preferences(book):
    for table, ranks in (("7.1", "6.3"), ("7.3", "7.2"), ("7.4", "6.3")):
        places = {(figure.model, figure.target, figure.slice) for figure in book.some(table)}
        for model, target, part in sorted(places, key=str):
            if model != "chance":
                where = {"model": model, "target": target, "slice": part}
                found = {figure.metric: figure for figure in book.some(table, **where)}
                yield from transitive(found, SENTENCES[table])
                if ranking := {figure.metric: figure for figure in book.some(ranks, **where)}:
                    yield from fitting(found, SENTENCES[table], ranking)


def preferred(found, first, second):
    """The share of sets whose first sentence ranks above the second, as (constant, factor, figure)."""
    straight = found.get(f"{first}_{second}")
    return (0, 1, straight) if straight else (1, -1, found[f"{second}_{first}"])


def transitive(found, sentences):
    """Of three preferences in a circle, each order of the sentences has one or two."""
    for a, b, c in combinations(sentences, 3):
        before, _, figure = preferred(found, a, b)  # the names stand in this order: never turned round
        rest = [preferred(found, b, c), preferred(found, c, a)]
        around = before + sum(constant for constant, _, _ in rest)
        parts = [(-factor, part) for _, factor, part in rest]
        yield at_most(figure, parts, constant=2 - around, rule=f"what {a}, {b}, {c} leave")
        yield at_least(figure, parts, constant=1 - around, rule=f"what {a}, {b}, {c} need")


def fitting(found, sentences, ranking):
    """A right set has four preferences of a true to a false sentence, a wrong one none, any other one to three."""
    across = [preferred(found, true, false)[2] for true in sentences[:2] for false in sentences[2:]]
    right, wrong = ranking["set_acc"], ranking["set_error"]
    for figure in across:
        yield at_most(right, [(1, figure)], rule=f"{figure.metric} in {figure.table}")
        yield at_most(figure, [(-1, wrong)], constant=1, rule="1 - set_error")
    first, others = across[0], [(-1, figure) for figure in across[1:]]
    yield at_most(first, [*others, (1, right), (-3, wrong)], constant=3, rule="3 + set_acc - 3 set_error - the others")
    yield at_least(first, [*others, (3, right), (-1, wrong)], constant=1, rule="1 + 3 set_acc - set_error - the others")


def people(book):
    for figure in book.some("6.2", unit="percent"):
        n = round(book.one("6.2", model=figure.model, column=figure.column, metric="n").value)
        yield share(figure, n if figure.metric == "sen_acc" else n // 4)
    for yes in book.some("B.1", metric="yes"):
        no, n = (book.one("B.1", slice=yes.slice, column=yes.column, metric=metric) for metric in ("no", "n"))
        yield total(no, [(1, n), (-1, yes)], rule="n - yes")
    for whole in book.some("B.1", slice="total"):
        parts = [book.one("B.1", slice=f"version {k}", column=whole.column, metric=whole.metric) for k in (1, 2)]
        yield total(whole, [(1, part) for part in parts], rule="sum of the versions")
    for figure in book.some("6.2", model="human (crowdworkers)", unit="percent"):
        n, sen_acc = (
            [book.one("B.1", slice=f"version {k}", metric=metric, column=figure.column) for k in (1, 2)]
            for metric in ("n", "sen_acc")
        )
        parts = [(size.value, part) for size, part in zip(n, sen_acc, strict=True)]
        yield mixture(figure, parts, rule="mixture of B.1")


def elsewhere(book):
    """What the thesis quotes of VALSE, and the orders of four sentences."""
    valse = Book("valse")
    for figure in book.some("6.1", metric="accuracy in VALSE"):
        yield same(figure, valse.one("4", metric="acc_r", model=figure.model, target="valse/foil-it"))
    yield same(book.one("6.1", metric="valid"), valse.one("5", metric="valid", target="valse/foil-it"))
    yield exactly(book.one("section 5.3", column="right"), RIGHT, rule="orders with both true sentences above")
    yield exactly(book.one("section 5.3", column="all"), len(ORDERS), rule="orders of four")
    right, all_ = (book.one("section 5.3", column=column) for column in ("right", "all"))
    chance = book.one("6.3", model="chance", metric="set_acc", target=ACTIVE)
    yield quotient(chance, right, all_)
