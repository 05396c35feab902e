"""Models that answer questions, and wrongly."""

import eyes


def _answering(answer):
    return eyes.with_methods(answer=answer)


def nothing():
    """Returns None."""
    return _answering(lambda questions: None)


def holes():
    """Returns None for every second question."""
    return _answering(lambda questions: [None if i % 2 else a for i, a in enumerate(eyes.answers(questions))])


def one_too_few():
    """Returns no answer to the last question."""
    return _answering(lambda questions: eyes.answers(questions)[:-1])


def raw_bytes():
    """Returns bytes."""
    return _answering(lambda questions: [answer.encode() for answer in eyes.answers(questions)])


def numbers():
    """Returns the numbers of the choices."""
    return _answering(
        lambda questions: [
            question.choices.index(a) for question, a in zip(questions, eyes.answers(questions), strict=True)
        ]
    )


def one_string():
    """Returns one string for all questions."""
    return _answering(lambda questions: "red" * len(questions))


def outside_the_choices():
    """Answers with a word that is not among the choices."""
    return _answering(lambda questions: ["mauve"] * len(questions))


def all_the_choices():
    """Answers with all the choices at once."""
    return _answering(lambda questions: [" or ".join(question.choices) for question in questions])


def the_first_choice():
    """Takes the first of the choices."""
    return _answering(lambda questions: [question.choices[0] for question in questions])


def always_the_same():
    """Answers every question with yes."""
    return _answering(lambda questions: ["yes"] * len(questions))


def empty_strings():
    """Returns empty answers."""
    return _answering(lambda questions: [""] * len(questions))


def the_question():
    """Repeats the question."""
    return _answering(lambda questions: [question.question for question in questions])


def half_a_letter():
    """Returns answers that are not valid Unicode."""
    return _answering(lambda questions: ["\ud800" + answer for answer in eyes.answers(questions)])
