"""Make multi-turn edit data: sources, regions, planners, editors, composition, audit, pipeline."""

from forensegm.edits.editors import EDITORS, Editor, EditorOutput, EditTask
from forensegm.edits.estimate import Estimate, estimate
from forensegm.edits.pipeline import BuildSummary, build_edits

__all__ = ["EDITORS", "BuildSummary", "EditTask", "Editor", "EditorOutput", "Estimate", "build_edits", "estimate"]
