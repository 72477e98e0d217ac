"""Judge a model on a data set: clean, under distortions, against baselines, and against another model."""

from forensegm.evaluation.compare import compare
from forensegm.evaluation.evaluate import Evaluation, evaluate
from forensegm.evaluation.robustness import robustness
from forensegm.evaluation.thresholds import choose_thresholds
from forensegm.evaluation.write import write_evaluation

__all__ = ["Evaluation", "choose_thresholds", "compare", "evaluate", "robustness", "write_evaluation"]
