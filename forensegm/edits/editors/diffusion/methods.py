"""How each kind of pipeline is called: one function per method of the table, over a batch of one padded size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image as PillowImage

from forensegm.edits.editors.diffusion.blend import encode_latents, keep_outside, latent_mask
from forensegm.edits.editors.diffusion.fit import Padded
from forensegm.edits.editors.diffusion.table import Row
from forensegm.lookup import require
from forensegm.sample import Image

Pictures = list[Any]
Call = Callable[[Any, Row, Sequence[Padded], list[str], list[int], Mapping[str, Any]], Pictures]


def inpaint(
    pipeline: Any, row: Row, batch: Sequence[Padded], prompts: list[str], seeds: list[int], options: Mapping[str, Any]
) -> Pictures:
    """Fill the masks of a batch with an inpainting pipeline."""
    images = [PillowImage.fromarray(one.image) for one in batch]
    masks = [_mask(one) for one in batch]
    alone = len(batch) == 1
    return list(
        pipeline(
            prompt=prompts[0] if alone else prompts,
            image=images[0] if alone else images,
            mask_image=masks[0] if alone else masks,
            **arguments(row, batch, seeds, options),
        ).images
    )


def blend(
    pipeline: Any, row: Row, batch: Sequence[Padded], prompts: list[str], seeds: list[int], options: Mapping[str, Any]
) -> Pictures:
    """Fill the masks of a batch with a text-to-image pipeline, by blended latents."""
    torch = require("torch", extra="diffusion")
    latents = encode_latents(pipeline, batch)
    noise = torch.stack([torch.randn(latents.shape[1:], generator=_generator(seed)) for seed in seeds])
    noise = noise.to(latents.device, latents.dtype)
    return list(
        pipeline(
            prompt=prompts,
            latents=noise,
            callback_on_step_end=keep_outside(latents, latent_mask(batch, latents), noise),
            callback_on_step_end_tensor_inputs=["latents"],
            **arguments(row, batch, seeds, options),
        ).images
    )


def instruct(
    pipeline: Any, row: Row, batch: Sequence[Padded], prompts: list[str], seeds: list[int], options: Mapping[str, Any]
) -> Pictures:
    """Follow an order; the whole frame goes through the model."""
    images = [PillowImage.fromarray(one.image) for one in batch]
    alone = len(batch) == 1
    extra = {"max_area": batch[0].image.shape[0] * batch[0].image.shape[1]} if "_auto_resize" in row.call else {}
    return list(
        pipeline(
            prompt=prompts[0] if alone else prompts,
            image=images[0] if alone else images,
            **arguments(row, batch, seeds, options),
            **extra,
        ).images
    )


def kandinsky(
    pipeline: Any, row: Row, batch: Sequence[Padded], prompts: list[str], seeds: list[int], options: Mapping[str, Any]
) -> Pictures:
    """Fill one mask with Kandinsky 2.2: its prior turns the prompt into the image embedding that the decoder takes."""
    torch = require("torch", extra="diffusion")
    prior, decoder = pipeline
    with torch.inference_mode():
        embeds = prior(
            prompt=prompts[0], generator=_generator(seeds[0]), num_inference_steps=int(options["prior_steps"])
        )
    # Its encoder draws from torch's own state, which is put back afterwards.
    with torch.random.fork_rng():
        torch.manual_seed(seeds[0])
        return list(
            decoder(
                image_embeds=embeds.image_embeds,
                negative_image_embeds=embeds.negative_image_embeds,
                image=PillowImage.fromarray(batch[0].image),
                mask_image=batch[0].region.astype(np.float32),
                **arguments(row, batch, seeds, options),
            ).images
        )


METHODS: dict[str, Call] = {"inpaint": inpaint, "blend": blend, "instruct": instruct, "kandinsky": kandinsky}


def arguments(row: Row, batch: Sequence[Padded], seeds: list[int], options: Mapping[str, Any]) -> dict[str, Any]:
    """What every pipeline takes: steps, guidance, seeds, size, and the row's own arguments."""
    height, width = batch[0].image.shape[:2]
    generators = [_generator(seed) for seed in seeds]
    own = dict(options["call"])
    if len(batch) > 1 and isinstance(own.get("negative_prompt"), str):
        own["negative_prompt"] = [own["negative_prompt"]] * len(batch)
    return {
        "num_inference_steps": int(options["steps"]),
        row.guidance_name: float(options["guidance"]),
        "generator": generators[0] if len(batch) == 1 else generators,
        **({"height": height, "width": width} if row.sized else {}),
        **own,
    }


def pixels(picture: Any) -> Image:
    """An output of a pipeline as uint8 RGB HxWx3."""
    return np.asarray(picture.convert("RGB"), dtype=np.uint8)


def _generator(seed: int) -> Any:
    torch = require("torch", extra="diffusion")
    return torch.Generator("cpu").manual_seed(seed)  # on the CPU, so that every device draws alike


def _mask(one: Padded) -> Any:
    return PillowImage.fromarray(one.region.astype(np.uint8) * 255)
