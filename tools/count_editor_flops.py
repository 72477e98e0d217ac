"""Count the compute of one denoiser pass of the diffusion editors, at their native size, without any weights.

The networks are built from their published shapes on torch's meta device and counted with torch's flop counter (a
multiply-add is 2 FLOP). `forensegm/edits/editors/diffusion/table.py` holds the results; run this again when a row
changes. Run: python tools/count_editor_flops.py
"""

from collections.abc import Callable
from typing import Any

import diffusers
import torch
from torch.utils.flop_counter import FlopCounterMode


def sd_unet(channels: int, side: int, tokens: int, width: int, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Return a U-Net of Stable Diffusion's kind, and its inputs."""
    unet = diffusers.UNet2DConditionModel(
        sample_size=side, in_channels=channels, cross_attention_dim=width, use_linear_projection=True, **options
    )
    inputs = {
        "sample": torch.empty(1, channels, side, side),
        "timestep": torch.empty(1),
        "encoder_hidden_states": torch.empty(1, tokens, options.get("encoder_hid_dim", width)),
    }
    return unet, inputs


def sd2(channels: int = 9) -> tuple[Any, dict[str, Any]]:
    """Stable Diffusion 2, 512 px."""
    return sd_unet(channels, 64, 77, 1024, attention_head_dim=(5, 10, 20, 20))


def sdxl(channels: int = 9, tokens: int = 77, pooled: int = 1280, **options: Any) -> tuple[Any, dict[str, Any]]:
    """SDXL, 1024 px."""
    unet, inputs = sd_unet(
        channels,
        128,
        tokens,
        2048,
        block_out_channels=(320, 640, 1280),
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
        transformer_layers_per_block=(1, 2, 10),
        attention_head_dim=(5, 10, 20),
        addition_embed_type="text_time",
        addition_time_embed_dim=256,
        projection_class_embeddings_input_dim=pooled + 6 * 256,
        **options,
    )
    inputs["added_cond_kwargs"] = {"text_embeds": torch.empty(1, pooled), "time_ids": torch.empty(1, 6)}
    return unet, inputs


def kolors() -> tuple[Any, dict[str, Any]]:
    """Kolors, 1024 px: SDXL's network behind ChatGLM's 4096 channels."""
    return sdxl(4, 256, 4096, encoder_hid_dim=4096, encoder_hid_dim_type="text_proj")


def sd35() -> tuple[Any, dict[str, Any]]:
    """Stable Diffusion 3.5 medium, 1024 px."""
    model = diffusers.SD3Transformer2DModel(
        sample_size=128,
        patch_size=2,
        in_channels=16,
        num_layers=24,
        attention_head_dim=64,
        num_attention_heads=24,
        joint_attention_dim=4096,
        caption_projection_dim=1536,
        pooled_projection_dim=2048,
        pos_embed_max_size=384,
        dual_attention_layers=tuple(range(13)),
        qk_norm="rms_norm",
    )
    inputs = {
        "hidden_states": torch.empty(1, 16, 128, 128),
        "encoder_hidden_states": torch.empty(1, 333, 4096),
        "pooled_projections": torch.empty(1, 2048),
        "timestep": torch.empty(1),
    }
    return model, inputs


def flux(channels: int = 384, tokens: int = 4096) -> tuple[Any, dict[str, Any]]:
    """FLUX.1, 1024 px."""
    model = diffusers.FluxTransformer2DModel(in_channels=channels, out_channels=64, guidance_embeds=True)
    inputs = {
        "hidden_states": torch.empty(1, tokens, channels),
        "encoder_hidden_states": torch.empty(1, 512, 4096),
        "pooled_projections": torch.empty(1, 768),
        "timestep": torch.empty(1),
        "guidance": torch.empty(1),
        "img_ids": torch.empty(tokens, 3),
        "txt_ids": torch.empty(512, 3),
    }
    return model, inputs


def kandinsky22() -> tuple[Any, dict[str, Any]]:
    """Kandinsky 2.2's decoder, 768 px."""
    unet = diffusers.UNet2DConditionModel(
        sample_size=96,
        in_channels=9,
        out_channels=8,
        addition_embed_type="image",
        down_block_types=("ResnetDownsampleBlock2D", *["SimpleCrossAttnDownBlock2D"] * 3),
        up_block_types=(*["SimpleCrossAttnUpBlock2D"] * 3, "ResnetUpsampleBlock2D"),
        mid_block_type="UNetMidBlock2DSimpleCrossAttn",
        block_out_channels=(384, 768, 1152, 1536),
        layers_per_block=3,
        encoder_hid_dim=1280,
        encoder_hid_dim_type="image_proj",
        cross_attention_dim=768,
        attention_head_dim=64,
        resnet_time_scale_shift="scale_shift",
    )
    inputs = {
        "sample": torch.empty(1, 9, 96, 96),
        "timestep": torch.empty(1),
        "encoder_hidden_states": None,
        "added_cond_kwargs": {"image_embeds": torch.empty(1, 1280)},
    }
    return unet, inputs


NETWORKS: dict[str, Callable[[], tuple[Any, dict[str, Any]]]] = {
    "sd2": sd2,
    "sd35": sd35,
    "sdxl": sdxl,
    "flux_fill": flux,
    "kolors": kolors,
    "kandinsky22": kandinsky22,
    "instruct_pix2pix": lambda: sd_unet(8, 64, 77, 768, attention_head_dim=8),
    "flux_kontext": lambda: flux(64, 8192),
}


def main() -> None:
    """Print TFLOP and parameters of one pass of each."""
    for name, build in NETWORKS.items():
        with torch.device("meta"):
            model, inputs = build()
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            model.eval()(**inputs)
        parameters = sum(one.numel() for one in model.parameters())
        print(f"{name:18}{counter.get_total_flops() / 1e12:8.3f} TFLOP {parameters / 1e9:8.2f} G parameters")


if __name__ == "__main__":
    main()
