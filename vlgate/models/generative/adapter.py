"""``vlm:ORG/NAME``: generative vision-and-language models of transformers (Qwen-VL, LLaVA, SmolVLM, PaliGemma, ...).

A pair's score is VQAScore, the probability of "Yes" to a question (Lin et al. 2024, arXiv:2404.01291). The answer to a
question with choices is the choice that the model is most likely to reply with.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import compress
from pathlib import Path

import numpy as np

from vlgate.asking.batching import OVERFLOW, out_of_memory
from vlgate.errors import ModelLoadError, ModelReplyError, NoReplyError
from vlgate.models.checkpoints import hub
from vlgate.models.checkpoints.hub import Pretrained, folder_of, identity, read_config, requested, weights_form
from vlgate.models.checkpoints.load_errors import DAMAGED, library, one_line
from vlgate.models.checkpoints.transformers_loading import classes_of, load_model, load_processor
from vlgate.models.dual.encoders import FAMILIES
from vlgate.models.generative.engine import Engine, check_reading, check_several, engine_for
from vlgate.models.generative.prompts import NO, VQASCORE, YES, choice_question, forms
from vlgate.models.generative.reading import Asked
from vlgate.types import TIED, Ask, Compare, FloatArray, Match, images_of

MOST_NEW_TOKENS = 32
fetch = hub.downloads
_WRITTEN = "in upper or lower case, with or without a space before it"
_CUT = f"of at most {MOST_NEW_TOKENS} tokens"
_MATCHES = {
    "vqascore": f'the score is the probability of "Yes" to {VQASCORE!r} (VQAScore, Lin et al. 2024), {_WRITTEN}',
    "yes-no": f'the score is the probability of "Yes" over that of "Yes" or "No" to {VQASCORE!r}, {_WRITTEN}',
    "likelihood": "the score is the mean log-likelihood of the text's tokens as a caption",
    "likelihood-sum": "the score is the log-likelihood of the text as a caption",
}
_ANSWERS = {
    "choices": f"questions with choices are answered by the likeliest choice, others by greedy decoding, {_CUT}",
    "generate": f"questions are answered by greedy decoding, {_CUT}, and the answer is read from the reply",
}
_THOUGHTLESS = "its template makes it think before it answers, and its thoughts are closed before they begin"


class Vlm:
    def __init__(
        self, engine: Engine, *, score: str, mode: str, fingerprint: str, name: str = "vlm", dtype: str = "float32"
    ) -> None:
        self.fingerprint = fingerprint
        self._name, self._dtype = name, dtype
        self._compares = False
        self.decision_threshold = 0.5 if score in ("vqascore", "yes-no") else None
        self._engine = engine
        self.inputs_ahead = engine.inputs_ahead
        self._score = score
        self._mode = mode
        self._yes = engine.prompter.single(YES) if self.decision_threshold else []
        self._no = engine.prompter.single(NO) if self.decision_threshold else []
        self.neither: set[Match] = set()
        self._weighed = 0
        self._neither = 0

    @property
    def note(self) -> str:
        parts = [_MATCHES[self._score], _ANSWERS[self._mode]]
        if self._engine.prompter.thoughtless:
            parts.append(_THOUGHTLESS)
        if self._neither:
            share = self._neither / self._weighed
            parts.append(f'"Yes" and "No" together had less than half of the probability in {share:.1%} of the pairs')
        return "; ".join(parts)

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        prompter = self._engine.prompter
        prompter.control.check([(pair.text,) for pair in pairs])
        with self._refusals(pairs):
            if self.decision_threshold is None:
                return self._caption_likelihoods(pairs)
            prompts = [(pair.image, prompter.prompt(VQASCORE.format(pair.text))) for pair in pairs]
            yes, no = self._engine.next_of(prompts, (self._yes, self._no)).T
            self._weighed += len(pairs)
            weak = yes + no < 0.5
            self._neither += int(weak.sum())
            self.neither.update(compress(pairs, weak.tolist()))
            return np.asarray(yes / (yes + no) if self._score == "yes-no" else yes, dtype=np.float64)

    def _caption_likelihoods(self, pairs: Sequence[Match]) -> FloatArray:
        prompter = self._engine.prompter
        prompt = prompter.caption()
        space = prompter.space(prompt)
        replies = [prompter.continuation(prompt, space + " ".join(pair.text.split())) for pair in pairs]
        sums = self._engine.likelihoods([((pair.image, prompt), ids) for pair, ids in zip(pairs, replies, strict=True)])
        lengths = np.array([len(ids) for ids in replies], dtype=np.float64)
        return sums if self._score == "likelihood-sum" else sums / lengths

    def answer(self, questions: Sequence[Ask]) -> list[str]:
        self._check_texts(questions)
        with self._refusals(questions):
            prompts = [(one.image, self._engine.prompter.prompt(choice_question(one))) for one in questions]
            return self._answered(questions, prompts)

    def compare(self, questions: Sequence[Compare]) -> list[str]:
        self.check_compare()
        self._check_texts(questions)
        answers: dict[int, str] = {}
        with self._refusals(questions):
            # processors pad prompts with as many images
            for many in sorted({len(question.images) for question in questions}):
                places = [index for index, question in enumerate(questions) if len(question.images) == many]
                some = [questions[place] for place in places]
                prompts = [(one.images, self._engine.prompter.prompt(choice_question(one), many)) for one in some]
                answers |= dict(zip(places, self._answered(some, prompts), strict=True))
        return [answers[index] for index in range(len(questions))]

    def check_compare(self) -> None:
        if not self._compares:
            check_several(self._engine, self._name, self._dtype)
            self._compares = True

    def _answered(self, questions: Sequence[Ask | Compare], prompts: Sequence[Asked]) -> list[str]:
        choose = [bool(question.choices) and self._mode == "choices" for question in questions]
        free = [prompt for prompt, of_choices in zip(prompts, choose, strict=True) if not of_choices]
        written = iter(self._engine.generate(free, MOST_NEW_TOKENS))
        chosen = iter(self._chosen(list(compress(questions, choose)), list(compress(prompts, choose))))
        return [next(chosen if of_choices else written) for of_choices in choose]

    def answer_without_image(self, questions: Sequence[Ask]) -> list[str]:
        self._check_texts(questions)
        try:
            return self._engine.generate_without_image(list(map(choice_question, questions)), MOST_NEW_TOKENS)
        except DAMAGED as error:
            if out_of_memory(error):
                raise
            why = f"the model cannot be asked without an image ({type(error).__name__}: {one_line(error)})"
            raise NoReplyError(range(len(questions)), why) from error

    def _check_texts(self, questions: Sequence[Ask | Compare]) -> None:
        self._engine.prompter.control.check([(question.question, *question.choices) for question in questions])

    @contextmanager
    def _refusals(self, requests: Sequence[Match | Ask | Compare]) -> Iterator[None]:
        # the images that the processor refuses may be why a call fails
        try:
            yield
        except Exception as error:
            self._engine.check_images(error, [images_of(request) for request in requests])
            raise

    def _chosen(self, questions: Sequence[Ask | Compare], prompts: Sequence[Asked]) -> list[str]:
        wanted = [
            (index, choice, ids)
            for index, question in enumerate(questions)
            for choice in dict.fromkeys(question.choices)
            for ids in self._engine.prompter.replies(prompts[index][1], forms(choice))
        ]
        found = self._engine.likelihoods([(prompts[place], ids) for place, _, ids in wanted], ended=True)
        if np.isnan(found).any():
            raise ModelReplyError(f"the likelihood of a choice is NaN: {OVERFLOW}")
        totals: list[dict[str, float]] = [{} for _ in questions]
        for (place, choice, _), value in zip(wanted, found.tolist(), strict=True):
            totals[place][choice] = float(np.logaddexp(totals[place].get(choice, -np.inf), value))
        best = [[choice for choice, value in total.items() if value == max(total.values())] for total in totals]
        return [choices[0] if len(choices) == 1 else TIED for choices in best]


def check(weights: str, folder: Path) -> None:
    source, _ = requested("vlm", weights, folder)
    if source.local:
        _check_kind(source)
        weights_form(folder_of(source))


def _check_kind(source: Pretrained) -> None:
    kind = read_config(source).get("model_type")
    if any(kind in family.model_types for family in FAMILIES):
        raise ModelLoadError(
            f"{source.asked} is a checkpoint of model_type {kind!r}, a dual encoder, which writes no text; write "
            f"--model=dual:{source.asked}"
        )


def build(weights: str, folder: Path, device: str = "cpu", dtype: str = "float32") -> Vlm:
    source, options = requested("vlm", weights, folder)
    transformers = library("transformers")
    _check_kind(source)
    processor = load_processor(transformers.AutoProcessor, source)
    spread = {"device_map": "auto"} if options["device_map"] == "auto" else {}
    model = load_model(transformers.AutoModelForImageTextToText, source, device=device, dtype=dtype, **spread)
    settings = " ".join(f"{name}={options[name]}" for name in ("device_map", "mode", "score"))
    what = f"{identity(source)} {transformers.__version__} {dtype} {classes_of(processor)} {settings}"
    engine = engine_for(model, processor)
    check_reading(engine, source.asked, dtype)
    return Vlm(engine, score=options["score"], mode=options["mode"], fingerprint=what, name=source.asked, dtype=dtype)
