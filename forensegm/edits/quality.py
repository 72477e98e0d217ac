"""An optional score of each edit by a vision-language model, as DiffSeg30k filters its edits.

The paper discards about half of its edits by a score of Qwen2.5-VL; neither its prompt nor its threshold is published.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from forensegm.config import EditConfig
from forensegm.edits.loading import NeedsModel, ready
from forensegm.edits.view import TurnPlan
from forensegm.edits.vision_language import DEFAULTS, VisionLanguage, load_vision_language, read_json
from forensegm.sample import Image

QUESTION = (
    "The second image is an edit of the first. The order was: {order} Score from 0 (order not followed, or plainly "
    'broken) to 10 (followed, and looks like a photograph). Answer with {{"score": number}} and nothing else.'
)
SCORER: NeedsModel[VisionLanguage] = NeedsModel(load_vision_language, {**DEFAULTS, "min_score": 5.0})

Scorer = Callable[[Image, Image, TurnPlan], tuple[float | None, bool]]


def quality_scorer(config: EditConfig) -> Scorer:
    """Return a function of before, after and the plan that gives a score of 0..10 and whether it is enough.

    An answer that is none after all tries scores None, which is not enough.
    """
    model: VisionLanguage = ready("quality", cast("VisionLanguage", SCORER), config)
    least = float({**SCORER.defaults, **config.options.get("quality", {})}["min_score"])

    def score(before: Image, after: Image, wish: TurnPlan) -> tuple[float | None, bool]:
        question = QUESTION.format(order=wish.instruction)
        for number in range(model.tries):
            answer = model.ask([before, after], question, seed=None if number == 0 else wish.seed % 2**31 + number)
            value = read_score(answer)
            if value is not None:
                return value, value >= least
        return None, False

    return score


def read_score(answer: str) -> float | None:
    """Read a score of 0..10; None for anything else.

    >>> read_score('{"score": 7}'), read_score("seven"), read_score('{"score": 11}')
    (7.0, None, None)
    """
    try:
        value: Any = read_json(answer, ["score"])["score"]
    except ValueError:
        return None
    usable = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 10
    return float(value) if usable else None
