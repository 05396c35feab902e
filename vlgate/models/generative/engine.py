"""Probabilities of next tokens and whole replies, generated text, and the checks of both before anything is scored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.asking.batching import OVERFLOW, out_of_memory
from vlgate.errors import ModelLoadError, NoReplyError
from vlgate.models.checkpoints.hub import SERVE
from vlgate.models.checkpoints.inputs import check_prepared
from vlgate.models.checkpoints.load_errors import DAMAGED, one_line
from vlgate.models.checkpoints.transformers_loading import MEMORY_REMEDY, OWN
from vlgate.models.generative.reading import Asked, PromptReader, log_likelihoods, select
from vlgate.models.text.text_only import log_probabilities
from vlgate.types import FloatArray, LazyImage

if TYPE_CHECKING:
    from PIL.Image import Image

    from vlgate.models.generative.reading import Shown

Reply = tuple[Asked, tuple[int, ...]]  # a prompt with its images, and the tokens of a reply
# Architectures that need other inputs than an image and a question, or read the question from the image.
_REFUSED = frozenset({"udop", "pix2struct", "fuyu", "git", "kosmos-2", "kosmos-2.5", "idefics"})


class Engine(PromptReader):
    padding_side = "left"

    def __init__(self, model: Any, processor: Any) -> None:
        kind = model.config.model_type
        if kind in _REFUSED or not hasattr(processor, "tokenizer"):
            raise ModelLoadError(
                f"a {kind} cannot be asked a question about an image in the way of vlm: (its inputs are others, or its "
                f"question is part of the image); serve it (openai:URL#MODEL), or {OWN}"
            )
        tokenizer = processor.tokenizer
        tokenizer.padding_side = self.padding_side
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token
        super().__init__(model, processor, filler=int(tokenizer.pad_token_id or 0))
        listed = getattr(model.generation_config, "eos_token_id", None)
        ends = {tokenizer.eos_token_id, *(listed if isinstance(listed, list) else [listed])} - {None}
        self._ends = sorted(map(int, ends))
        stop = tokenizer("a.", add_special_tokens=False)["input_ids"][-1]
        is_token = tokenizer.decode([stop]).strip() == "."  # many models write a full stop before they end a turn
        self._stops = tuple(sorted({*self._ends, int(stop)} if is_token else self._ends))
        # Otherwise the checkpoint's own settings (sampling, penalties, suppressed tokens) would fill in the rest.
        model.generation_config = self._greedy()

    def check_images(self, error: Exception, images: Sequence[Sequence[LazyImage]]) -> None:
        prompt = self.prompter.prompt("Why?").text
        owners = [index for index, some in enumerate(images) for _ in some]
        shown = [image for some in images for image in some]
        try:
            check_prepared(error, shown, lambda image: self.processed(self._processor, [[image]], [prompt]))
        except NoReplyError as refused:
            reasons = {owners[place]: why for place, why in refused.reasons.items()}
            raise NoReplyError(reasons, str(refused), reasons) from error

    def next_of(self, prompts: Sequence[Asked], groups: Sequence[Sequence[int]]) -> FloatArray:
        """The probability that the next token is one of each group of token ids, shape (prompts, groups)."""
        import torch

        with torch.inference_mode():
            distinct = {prompt: index for index, prompt in enumerate(dict.fromkeys(prompts))}
            likely = self._next(list(distinct))
            rows = torch.stack([likely[:, list(group)].logsumexp(-1).exp() for group in groups], dim=1).cpu().numpy()
        return np.asarray(rows[[distinct[prompt] for prompt in prompts]], dtype=np.float64)

    def _next(self, prompts: Sequence[Asked]) -> Any:
        return self.read(prompts).next

    def likelihoods(self, wanted: Sequence[Reply], *, ended: bool = False) -> FloatArray:
        """The log-likelihoods of replies, in nats, shape (n,); with ``ended``, of replies that end there."""
        import torch

        found = np.zeros(len(wanted))
        if not wanted:
            return found
        with torch.inference_mode():
            distinct = list(dict.fromkeys(prompt for prompt, _ in wanted))
            likely = self._scorer(distinct, self._stops if ended else ())
            # Replies of one length go together, for little padding: the first to each prompt, then the second and so
            # on, so that no state is copied for them.
            turns: dict[tuple[Asked, int], Iterator[int]] = {}
            ranks = [(len(ids), next(turns.setdefault((prompt, len(ids)), count()))) for prompt, ids in wanted]
            order = sorted(range(len(wanted)), key=ranks.__getitem__)
            # Other replies take copies of their prompts' states: make at most as many at a time as prompts.
            for start in range(0, len(order), len(distinct)):
                part = order[start : start + len(distinct)]
                found[part] = likely([wanted[number] for number in part])
        return found

    def _scorer(self, prompts: Sequence[Asked], ends: Sequence[int]) -> Callable[[Sequence[Reply]], list[float]]:
        """Read the prompts; return a function that scores replies to them, which one of ``ends`` must follow."""
        place = {prompt: row for row, prompt in enumerate(prompts)}
        state = self.read(prompts)

        def likely(some: Sequence[Reply]) -> list[float]:
            rows = [place[prompt] for prompt, _ in some]
            if not ends and all(len(ids) == 1 for _, ids in some):
                first: list[float] = state.next[rows, [ids[0] for _, ids in some]].tolist()
                return first
            here = select(state, rows)
            return log_likelihoods(self._model, here, [ids for _, ids in some], filler=self._filler, ends=ends)

        return likely

    def generate(self, prompts: Sequence[Asked], most: int) -> list[str]:
        if not prompts:
            return []
        return self._written(self.inputs(prompts), most)

    def generate_without_image(self, texts: Sequence[str], most: int) -> list[str]:
        if not texts:
            return []
        prompts = [self.prompter.without_image(text) for text in texts]
        made = self._processor.tokenizer(
            prompts, padding=True, return_tensors="pt", add_special_tokens=self.prompter.special
        )
        inputs = {name: made[name].to(self._model.device) for name in ("input_ids", "attention_mask")}
        return self._written(inputs, most)

    def _written(self, inputs: Mapping[str, Any], most: int) -> list[str]:
        import torch

        with torch.inference_mode():
            given, start = self._begun(inputs)
            written = self._model.generate(**given, generation_config=self._greedy(max_new_tokens=most))
        texts = self._processor.tokenizer.batch_decode(written[:, start:], skip_special_tokens=True)
        return [text.strip() for text in texts]

    def _begun(self, inputs: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
        """The inputs of ``generate``, and the number of tokens that stand before the reply in what it returns."""
        return dict(inputs), inputs["input_ids"].shape[1]

    def step_by_step(self, asked: Asked, reply: Sequence[int]) -> float:
        """A reply's log-likelihood by the library's own ``generate``: alone, one token at a time."""
        import torch

        inputs, start = self._begun(self.inputs([asked]))
        inputs["prefix_allowed_tokens_fn"] = lambda _, so_far: [reply[len(so_far) - start]]
        settings = self._greedy(max_new_tokens=len(reply), output_logits=True, return_dict_in_generate=True)
        with torch.inference_mode():
            made = self._model.generate(**inputs, generation_config=settings)
            steps = log_probabilities(torch.cat(made.logits))
        return sum(float(row[token]) for row, token in zip(steps, reply, strict=True))

    def _greedy(self, **settings: Any) -> Any:
        import transformers

        made_by: Any = transformers.GenerationConfig  # its own annotations are incomplete
        return made_by(
            do_sample=False, num_beams=1, eos_token_id=self._ends or None, pad_token_id=self._filler, **settings
        )


class EncoderDecoder(Engine):
    # Florence-2, and BLIP-2 and InstructBLIP with Flan-T5: the encoder reads image and prompt, and the decoder writes
    # the reply after its own first tokens. Nothing is kept between two calls: a reply is one pass through the network.

    # Encoders with learned positions (BART's in Florence-2) count them from the left.
    padding_side = "right"

    def __init__(self, model: Any, processor: Any) -> None:
        inner = getattr(model, "language_model", None)
        named = (model.generation_config, getattr(inner, "generation_config", None), text_config(model), model.config)
        starts = [getattr(one, "decoder_start_token_id", None) for one in named]
        start = next((token for token in starts if token is not None), None)
        if start is None:
            raise ModelLoadError(
                f"the configuration of this {model.config.model_type} names no decoder_start_token_id; save the "
                "config.json and generation_config.json that the model was published with"
            )
        before = processor.tokenizer("a")["input_ids"][:1]  # BART was trained on texts with <s> before them
        self._begin = [int(start), *(token for token in before if token == processor.tokenizer.bos_token_id)]
        super().__init__(model, processor)
        self.prompter.separate = True

    def _next(self, prompts: Sequence[Asked]) -> Any:
        return log_probabilities(self._logits([(prompt, ()) for prompt in prompts])[:, -1])

    def _scorer(self, _: Sequence[Asked], ends: Sequence[int]) -> Callable[[Sequence[Reply]], list[float]]:
        def likely(some: Sequence[Reply]) -> list[float]:
            found = []
            logits = self._logits(some)[:, len(self._begin) - 1 :]
            for row, (_, reply) in zip(logits, some, strict=True):
                steps = log_probabilities(row[: len(reply) + 1])
                total = steps[range(len(reply)), list(reply)].sum()
                found.append(float(total + (steps[-1, list(ends)].logsumexp(0) if ends else 0.0)))
            return found

        return likely

    def _logits(self, some: Sequence[Reply]) -> Any:
        """The logits after each token of the decoder, shape (n, length, vocabulary), with padding on the right."""
        import torch

        longest = max(len(reply) for _, reply in some)
        rows = [[*self._begin, *reply, *[self._filler] * (longest - len(reply))] for _, reply in some]
        inputs = self.inputs([asked for asked, _ in some])
        return self._model(**inputs, decoder_input_ids=torch.tensor(rows, device=self._model.device)).logits

    def _begun(self, inputs: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
        import torch

        first = torch.tensor([self._begin] * len(inputs["input_ids"]), device=self._model.device)
        return {**inputs, "decoder_input_ids": first}, len(self._begin)

    def _greedy(self, **settings: Any) -> Any:
        return super()._greedy(decoder_start_token_id=self._begin[0], **settings)


def text_config(model: Any) -> Any:
    return getattr(model.config, "text_config", None) or model.config


def engine_for(model: Any, processor: Any) -> Engine:
    second = model.config.is_encoder_decoder or text_config(model).is_encoder_decoder
    return (EncoderDecoder if second and hasattr(processor, "tokenizer") else Engine)(model, processor)


# Checks on two drawn images, before anything is scored, that a batch gives what the library's own code gives.
# Sharing, padding and batching depend on how an architecture positions and masks tokens, which differs between
# families and between versions of the library. The reference is the library's own ``generate``, alone and token by
# token.

# The most nats per token by which the two may differ, from rounding in thousands of sums; a GPU may round float32, too.
MOST_APART = {"float32": 0.05, "float16": 0.5, "bfloat16": 0.5}
_SIZES = {"wide": (96, 64), "high": (64, 128)}
_TRIED = (
    ("wide", "What is this?", "a red cup on the table"),
    ("wide", "Is there a dog on the left of the small red table?", "no"),
    ("high", "Why?", "blue"),
)


def check_reading(engine: Engine, name: str, dtype: str) -> None:
    try:
        apart = _apart(engine)
    except ModelLoadError:
        raise
    except DAMAGED as error:
        why = f"{type(error).__name__}: {one_line(error)}"
        if out_of_memory(error):
            raise ModelLoadError(f"{name} is loaded, but fails on an image ({why}); {MEMORY_REMEDY}") from error
        remedy = "save the processor and chat template that it was published with"
        if isinstance(error, AttributeError | TypeError):
            from transformers import __version__

            fault = f"this looks like a fault of transformers {__version__} in its code of this model"
            remedy = f"{fault}; install another version"
        raise ModelLoadError(
            f"{name} fails on an image with a question in its prompt ({why}); {remedy}, {SERVE}, or {OWN}"
        ) from error
    if np.isnan(apart):
        remedy = OVERFLOW if dtype == "float16" else "check its weights"
        raise ModelLoadError(f"{name} gives NaN for an image with a question in its prompt in {dtype}: {remedy}")
    if not apart <= MOST_APART[dtype]:
        raise ModelLoadError(
            f"{name} gives another likelihood in a batch than by its own generate(): they are {apart:.3g} nats per "
            f"token apart (expected at most {MOST_APART[dtype]} in {dtype}); {SERVE}, or {OWN}"
        )


def check_several(engine: Engine, name: str, dtype: str) -> None:
    try:
        apart, why = _apart(engine, several=True), _unseen(engine)
    except ModelLoadError:
        raise
    except DAMAGED as error:
        if out_of_memory(error):
            raise
        apart, why = 0.0, f"{type(error).__name__}: {one_line(error)}"
    if not apart <= MOST_APART[dtype]:
        why = f"a batch is {apart:.3g} nats per token apart from its own generate()"
    if why:
        raise ModelLoadError(
            f"{name} cannot be asked about two images in one prompt ({why}); leave out --ask=together, or take a "
            "model that was trained with several images, such as Qwen2.5-VL, InternVL3 or Idefics3"
        )


def _unseen(engine: Engine) -> str:
    one, other = (LazyImage(key=str(turn), load=partial(_drawn, _SIZES["wide"], turn)) for turn in (0, 180))
    prompt = engine.prompter.prompt("What is this?", 2)
    reply = engine.prompter.continuation(prompt, "a red cup on the table")
    both, first, second = (
        engine.step_by_step((shown, prompt), reply) for shown in ((one, other), (one, one), (other, other))
    )
    if both == first:
        return "its reply does not depend on the second image"
    return "its reply does not depend on the first image" if both == second else ""


def _apart(engine: Engine, *, several: bool = False) -> float:
    """The largest difference, in nats per token; NaN if there is any NaN."""
    images = {name: LazyImage(key=name, load=partial(_drawn, size)) for name, size in _SIZES.items()}
    wide, high = images.values()
    shown: dict[str, Shown] = {"wide": (wide, high), "high": (high, wide)} if several else {**images}
    prompts = [(shown[name], engine.prompter.prompt(question, 2 if several else 1)) for name, question, _ in _TRIED]
    texts = [text for _, _, text in _TRIED]
    replies = [engine.prompter.continuation(prompt, text) for (_, prompt), text in zip(prompts, texts, strict=True)]
    together = engine.likelihoods(list(zip(prompts, replies, strict=True)))
    alone = [engine.step_by_step(prompt, reply) for prompt, reply in zip(prompts, replies, strict=True)]
    return float(np.max(np.abs(together - alone) / [len(reply) for reply in replies]))


def _drawn(size: tuple[int, int], turn: int = 0) -> Image:
    from PIL import Image

    return Image.linear_gradient("L").rotate(turn).resize(size).convert("RGB")
