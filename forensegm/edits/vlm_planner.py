"""A vision-language model plans the turn, in the style of DiffSeg30k: what to edit, how, and in which words.

DiffSeg30k (arXiv 2511.19111) lets Qwen2.5-VL propose what can be edited, Grounded-SAM outline it, and the model again
write an addition, a removal or an attribute change. Its prompts are not published: these are our own, and one answer
holds what the paper asks for in two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from forensegm.edits.editors.base import Editor, Kind
from forensegm.edits.loading import NeedsModel
from forensegm.edits.regions import draw_region
from forensegm.edits.view import PlanFailed, Proposer, TurnPlan, View
from forensegm.edits.vision_language import DEFAULTS, VisionLanguage, load_vision_language, read_json

KEYS = ("object", "kind", "instruction", "prompt")
LONGEST = 200  # characters of each answer
QUESTION = (
    "You plan one local edit of this photograph. Choose an object or a part of it that covers between {low:.0%} and "
    "{high:.0%} of the image, and one kind of edit out of: {kinds}. Answer with one JSON object and nothing else: "
    '{{"object": "what is edited, in a few words; for add, what the new thing stands on", "kind": "{first}", '
    '"instruction": "the edit as an order, in one sentence", '
    '"prompt": "what is to be seen in that place afterwards"}}{hint}'
)


class VlmPlanner:
    """Asks the model, checks its answer, asks again where it is none, and finds the region that it names."""

    def __init__(self, model: VisionLanguage) -> None:
        """Plan with this model."""
        self.model = model

    def __call__(self, view: View, editor: Editor, proposers: Mapping[str, Proposer]) -> TurnPlan:
        """Return a plan; raises PlanFailed after too many unusable answers, or where its object is not found."""
        hint = f" The image shows: {view.captions[0]}" if view.captions else ""
        low, high = view.area
        kinds = ", ".join(editor.kinds)
        question = QUESTION.format(low=low, high=high, kinds=kinds, first=editor.kinds[0], hint=hint)
        complaints = []
        for _ in range(self.model.tries):
            answer = self.model.ask([view.image], question, seed=int(view.rng.integers(2**31)))
            try:
                wish = check_wish(read_json(answer, KEYS), editor.kinds)
            except ValueError as error:
                complaints.append(str(error))
                continue
            return self._locate(view, wish, proposers)
        raise PlanFailed(f"No usable answer of the vision-language model in {self.model.tries} tries: {complaints[-1]}")

    def _locate(self, view: View, wish: dict[str, Any], proposers: Mapping[str, Proposer]) -> TurnPlan:
        seen = View(view.image, view.area, view.rng, view.objects, view.captions, query=wish["object"])
        found, proposer = draw_region(seen, proposers)
        seed = int(view.rng.integers(2**32))
        return TurnPlan(found.region, proposer, wish["kind"], wish["instruction"], seed, wish["prompt"], "vlm")


def check_wish(values: Mapping[str, Any], kinds: tuple[Kind, ...]) -> dict[str, Any]:
    """Return the answer with its texts tidied; raises ValueError for an empty or endless one, or another kind."""
    wish = {}
    for key in KEYS:
        value = values[key]
        if not isinstance(value, str) or not value.strip() or len(value) > LONGEST:
            raise ValueError(f"Expected '{key}' to be 1 to {LONGEST} characters, got {str(value)[:40]!r}.")
        wish[key] = " ".join(value.split())
    if wish["kind"] not in kinds or wish["kind"] not in get_args(Kind):
        raise ValueError(f"Expected 'kind' to be one of {', '.join(kinds)}, got {wish['kind']!r}.")
    return wish


def _load(options: Mapping[str, Any]) -> VlmPlanner:
    return VlmPlanner(load_vision_language(options))


VLM_PLANNER: NeedsModel[Any] = NeedsModel(_load, DEFAULTS)
