"""Autoencoders: TAEF2's own network and those of diffusers, behind one interface; and the editor that uses them."""

import diffusers
import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from forensegm.autoencoder import load_autoencoder, taef2_decoder, taef2_encoder
from forensegm.config import EditConfig
from forensegm.datasets.records import read_records, rle_decode
from forensegm.edits import build_edits
from forensegm.imageio import MaskSpec, read_image, read_mask


@pytest.fixture
def random_taef2(tmp_path):
    torch.manual_seed(0)
    save_file(taef2_encoder().state_dict(), tmp_path / "taef2_encoder.safetensors")
    save_file(taef2_decoder().state_dict(), tmp_path / "taef2_decoder.safetensors")
    return tmp_path


@pytest.fixture
def saved(tmp_path):
    torch.manual_seed(0)
    tiny = {"encoder_block_out_channels": (8, 8), "decoder_block_out_channels": (8, 8)}
    blocks = {"num_encoder_blocks": (1, 1), "num_decoder_blocks": (1, 1)}
    diffusers.AutoencoderTiny(**tiny, **blocks).save_pretrained(tmp_path / "tiny")
    diffusers.AutoencoderKL(
        block_out_channels=(8, 8, 8),
        down_block_types=["DownEncoderBlock2D"] * 3,
        up_block_types=["UpDecoderBlock2D"] * 3,
        norm_num_groups=4,
    ).save_pretrained(tmp_path / "kl")
    diffusers.VQModel(block_out_channels=(8,), norm_num_groups=4).save_pretrained(tmp_path / "vq")
    return tmp_path


def images(hw):
    return torch.from_numpy(np.random.default_rng(0).random((2, 3, *hw), dtype=np.float32))


@pytest.mark.parametrize(("kind", "multiple"), [("tiny", 2), ("kl", 4)])
def test_autoencoders_of_diffusers(saved, kind, multiple):
    autoencoder = load_autoencoder(str(saved / kind))
    assert autoencoder.multiple == multiple
    with torch.inference_mode():
        latents = autoencoder.encode(images((32, 48)))
        decoded = autoencoder.decode(latents)
        assert torch.equal(latents, autoencoder.encode(images((32, 48))))
    assert latents.shape[-2:] == (32 // multiple, 48 // multiple)
    assert decoded.shape == (2, 3, 32, 48)
    assert 0 <= decoded.min() <= decoded.max() <= 1


def test_taef2_has_32_latent_channels_at_an_eighth(random_taef2):
    for source in (random_taef2, random_taef2 / "taef2_"):
        autoencoder = load_autoencoder(str(source))
        with torch.inference_mode():
            latents = autoencoder.encode(images((32, 48)))
            assert latents.shape == (2, 32, 4, 6)
            assert autoencoder.decode(latents).shape == (2, 3, 32, 48)


def test_what_is_no_autoencoder_is_named(saved, random_taef2):
    with pytest.raises(FileNotFoundError, match=r"Expected an autoencoder at '\./nowhere'"):
        load_autoencoder("./nowhere")
    with pytest.raises(ValueError, match=r"Expected AutoencoderTiny or AutoencoderKL at .* got VQModel"):
        load_autoencoder(str(saved / "vq"))
    (saved / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="that diffusers saved at"):
        load_autoencoder(str(saved / "empty"))
    save_file({"0.weight": torch.zeros(3)}, random_taef2 / "taef2_decoder.safetensors")
    with pytest.raises(ValueError, match=r"Expected the weights of TAEF2's tiny autoencoder in .*taef2_decoder"):
        load_autoencoder(str(random_taef2))
    (random_taef2 / "taef2_encoder.safetensors").write_bytes(b"\x80\x04cos\nsystem\n")
    with pytest.raises(ValueError, match=r"Expected the weights of TAEF2's tiny autoencoder in .*taef2_encoder"):
        load_autoencoder(str(random_taef2))


def test_real_weights_give_about_30_db_on_photographs(shared):
    autoencoder = load_autoencoder(str(shared / "weights"))
    ratios = []
    for path in sorted((shared / "photos").glob("*.jpg"))[:4]:
        photo = read_image(path)[:384, :384].astype(np.float32) / 255
        tensor = torch.from_numpy(photo).permute(2, 0, 1)[None]
        with torch.inference_mode():
            error = (autoencoder.decode(autoencoder.encode(tensor)) - tensor).square().mean()
        ratios.append(-10 * float(torch.log10(error)))
    assert 26 < float(np.median(ratios)) < 45
    assert min(ratios) > 22


def test_the_whole_build_with_a_real_autoencoder(shared, tmp_path):
    """Latents disturbed inside the region: the mask comes out right, the rest of the photograph is untouched."""
    config = EditConfig(
        photos=str(shared / "photos"),
        out=str(tmp_path / "data"),
        images=6,
        size=128,
        authentic_share=0.0,
        editors=["autoencoder", "telea"],
        options={"autoencoder": {"model": str(shared / "weights")}},
        device="cpu",
        workers=1,
    )
    summary = build_edits(config)
    assert summary.audit["autoencoder"]["accepted"] > 0
    root = tmp_path / "data"
    for record in read_records(root):
        image, mask = read_image(root / record.image), read_mask(root / record.mask, MaskSpec("ids", 3))
        left, top, right, bottom = record.source["crop_xyxy"]
        photo = read_image(shared / "photos" / record.source["name"])[top:bottom, left:right]
        expected = np.zeros_like(mask)
        for edit in record.edits:
            expected[rle_decode(edit.mask)] = 1 if edit.editor == "autoencoder" else 2
            if edit.editor == "autoencoder":
                assert edit.parameters["autoencoder"] == "taef2"
                assert 0 <= edit.parameters["noise"] <= 0.33
                assert edit.measured["ssim_inside"] > 0.2
        assert np.array_equal(mask, expected)
        assert np.array_equal(image[mask == 0], photo[mask == 0])
