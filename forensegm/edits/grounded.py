"""Regions named in words: Grounding DINO finds boxes, SAM outlines what is in them; both through transformers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image as PillowImage

from forensegm.edits.editors.base import Region
from forensegm.edits.editors.diffusion.devices import best_device
from forensegm.edits.loading import NeedsModel
from forensegm.edits.view import Found, Proposer, View
from forensegm.lookup import require
from forensegm.sample import Image

DEFAULTS: dict[str, Any] = {
    "detector": "IDEA-Research/grounding-dino-base",
    "segmenter": "facebook/sam-vit-base",
    # What is looked for where no planner asks for something: things that photographs of everyday life are full of.
    "labels": ["person", "animal", "vehicle", "furniture", "food", "plant", "sign", "bag", "window", "bottle"],
    "box_threshold": 0.3,
    "text_threshold": 0.25,
}


@dataclass(frozen=True, eq=False)
class GroundedSam:
    """Loaded models, each with its processor."""

    detector: Any
    detector_processor: Any
    segmenter: Any
    segmenter_processor: Any
    labels: tuple[str, ...]
    box_threshold: float
    text_threshold: float

    def __call__(self, view: View) -> Found | None:
        """Outline one of the found boxes whose mask has a fitting area; None where there is none."""
        boxes, names = self.detect(view.image, [view.query] if view.query else self.labels)
        smallest, largest = view.area
        for one in view.rng.permutation(len(boxes)):
            region = self.outline(view.image, boxes[int(one)])
            if smallest <= region.mean() <= largest:
                return Found(region, view.query or names[int(one)])
        return None

    def detect(self, image: Image, texts: tuple[str, ...] | list[str]) -> tuple[list[list[float]], list[str]]:
        """Find boxes (x0, y0, x1, y1 in pixels) of what the texts name, with the words that each box answers to."""
        torch = require("torch", extra="diffusion")
        picture = PillowImage.fromarray(image)
        prompt = " ".join(f"{text.strip().lower().rstrip('.')}." for text in texts)  # as its authors ask for it
        inputs = self.detector_processor(images=picture, text=prompt, return_tensors="pt").to(self.detector.device)
        with torch.inference_mode():
            outputs = self.detector(**inputs)
        found = self.detector_processor.post_process_grounded_object_detection(
            outputs,
            inputs["input_ids"],
            threshold=self.box_threshold,
            text_threshold=self.text_threshold,
            target_sizes=[image.shape[:2]],
        )[0]
        return found["boxes"].tolist(), [str(name) for name in found["text_labels"]]

    def outline(self, image: Image, box: list[float]) -> Region:
        """Return what stands in a box, bool HxW."""
        torch = require("torch", extra="diffusion")
        picture = PillowImage.fromarray(image)
        inputs = self.segmenter_processor(picture, input_boxes=[[box]], return_tensors="pt").to(self.segmenter.device)
        with torch.inference_mode():
            outputs = self.segmenter(**inputs, multimask_output=False)
        sizes = (inputs["original_sizes"].cpu(), inputs["reshaped_input_sizes"].cpu())
        masks = self.segmenter_processor.post_process_masks(outputs.pred_masks.cpu(), *sizes)
        return np.asarray(masks[0][0, 0].numpy(), dtype=bool)


def load_grounded_sam(options: Mapping[str, Any]) -> Proposer:
    """Load both models; raises RuntimeError where transformers is missing, OSError where a model is."""
    transformers = require("transformers", extra="diffusion")
    place = {"local_files_only": bool(options["local_files_only"])}
    device = best_device(str(options["device"]))
    detector, segmenter = options["detector"], options["segmenter"]
    return GroundedSam(
        transformers.AutoModelForZeroShotObjectDetection.from_pretrained(detector, **place).eval().to(device),
        transformers.AutoProcessor.from_pretrained(detector, **place),
        transformers.SamModel.from_pretrained(segmenter, **place).eval().to(device),
        transformers.SamProcessor.from_pretrained(segmenter, **place),
        tuple(options["labels"]),
        float(options["box_threshold"]),
        float(options["text_threshold"]),
    )


GROUNDED_SAM: NeedsModel[Proposer] = NeedsModel(load_grounded_sam, DEFAULTS, models=("detector", "segmenter"))
