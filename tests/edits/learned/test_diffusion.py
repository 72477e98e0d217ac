"""Every diffusion editor of the table, with a tiny pipeline of its own class loaded as a real one is."""

import numpy as np
import pytest

from forensegm.config import EditConfig
from forensegm.edits import EDITORS, EditTask
from forensegm.edits.editors.base import EditorOutput
from forensegm.edits.editors.diffusion import DIFFUSION
from forensegm.edits.editors.diffusion.pipelines import cut_words
from forensegm.edits.editors.running import Failure, load_editor, load_generator, run_editor
from forensegm.edits.loading import unload

ODD = (70, 90)
SLOW = ("qwen_image_edit",)  # it looks at every image at a megapixel: one is enough


@pytest.fixture(autouse=True)
def no_models_left():
    yield
    unload()


def image(hw=ODD, seed=0):
    y, x = np.mgrid[: hw[0], : hw[1]]
    noise = np.random.default_rng(seed).normal(0, 6, (*hw, 3))
    waves = np.stack([40 * np.sin(x / 7 + c) + 40 * np.cos(y / 5 - seed) for c in range(3)], axis=2)
    return np.clip(120 + waves + noise, 0, 255).astype(np.uint8)


def region(hw=ODD, rows=slice(20, 41), columns=slice(33, 52)):
    found = np.zeros(hw, bool)
    found[rows, columns] = True
    return found


def task(picture, where, seed=0, prompt="a red ball"):
    rng = np.random.default_rng(seed)
    return EditTask(picture, where, rng, lambda: picture, "change", "Make it red.", prompt)


def editor(name, options):
    config = EditConfig(editors=[name], options={name: options}, device="cpu", local_files_only=True)
    return load_editor(name, config)[1]


@pytest.mark.parametrize("name", DIFFUSION)
def test_contract(name, learned_options):
    """Sizes that fit no grid, in a batch; the same seed gives the same image; everything is recorded."""
    function = editor(name, learned_options(name))
    tasks = [task(image(), region())]
    if name not in SLOW:
        tasks.append(task(image(seed=1), region(rows=slice(0, 3), columns=slice(0, 2)), seed=1))
    outputs = run_editor(function, tasks)
    again = outputs if name in SLOW else run_editor(function, tasks)
    for one, other in zip(outputs, again, strict=True):
        assert isinstance(one, EditorOutput), one
        assert one.image.shape == (*ODD, 3)
        assert one.image.dtype == np.uint8
        assert one.image.std() > 1  # not black, not NaN
        assert np.array_equal(one.image, other.image)
        assert one.parameters == other.parameters
    row, found = DIFFUSION[name], outputs[0].parameters
    assert found["pipeline"] == row.pipeline
    assert found["method"] == row.method
    assert found["dtype"] == "float32"
    assert found["prompt"] == ("Make it red." if row.method == "instruct" else "a red ball")
    assert all(side % row.multiple == 0 for side in found["padded_to"])
    if name not in SLOW:
        other_seed = run_editor(function, [task(image(), region(), seed=5)])[0]
        assert not np.array_equal(other_seed.image, outputs[0].image)


def test_blended_latents_keep_the_outside_as_the_autoencoder_has_it(tiny_model, learned_options):
    """Outside the mask the output is the round trip of the image, as far as the decoder does not mix cells."""
    import torch
    from diffusers import AutoencoderKL

    wanted = np.zeros((128, 128), bool)
    wanted[:16, :16] = True
    picture = image((128, 128))
    output = run_editor(editor("hunyuan_dit", learned_options("hunyuan_dit")), [task(picture, wanted)])[0].image
    vae = AutoencoderKL.from_pretrained(tiny_model("hunyuan_dit"), subfolder="vae")
    with torch.inference_mode():
        pixels = torch.from_numpy(picture.astype(np.float32) / 127.5 - 1).permute(2, 0, 1)[None]
        decoded = vae.decode(vae.encode(pixels).latent_dist.mode()).sample[0].permute(1, 2, 0)
    trip = ((decoded / 2 + 0.5).clamp(0, 1) * 255).round().numpy()
    gap = np.abs(output.astype(float) - trip).mean(axis=2)
    assert gap[wanted].mean() > 3 * gap[96:, 96:].mean()


@pytest.mark.parametrize("name", ["sd2", "sd35", "flux_fill", "hunyuan_dit", "kandinsky22"])
@pytest.mark.parametrize(
    ("picture", "where"),
    [
        (image((40, 33)), region((40, 33), slice(5, 9), slice(30, 33))),
        (image((96, 64)), np.ones((96, 64), bool)),
        (image((96, 64)), region((96, 64), slice(50, 51), slice(7, 8))),
        (np.repeat(image((64, 64))[..., :1], 3, axis=2), region((64, 64), slice(10, 30), slice(10, 30))),
        (np.full((64, 64, 3), 128, np.uint8), region((64, 64), slice(10, 30), slice(10, 30))),
    ],
    ids=["below the minimum", "everything", "one pixel", "grey", "flat"],
)
def test_hard_cases(name, picture, where, learned_options):
    output = run_editor(editor(name, learned_options(name)), [task(picture, where)])[0]
    assert isinstance(output, EditorOutput), output
    assert output.image.shape == picture.shape
    changed = np.abs(output.image.astype(int) - picture).max(axis=2) > 0
    assert changed[where].any()


@pytest.mark.parametrize("name", ["sd2", "sdxl", "sd35", "flux_fill", "hunyuan_dit", "kolors", "instruct_pix2pix"])
def test_a_prompt_longer_than_the_tokenizer_takes(name, learned_options):
    words = "an old wooden chair " * 60
    function = editor(name, learned_options(name))
    one = EditTask(image(), region(), np.random.default_rng(0), lambda: image(), "change", words, words)
    output = run_editor(function, [one])[0]
    assert isinstance(output, EditorOutput), output
    assert output.parameters["tokens_left_out"]
    assert output.parameters["prompt"]


def test_a_prompt_is_cut_at_a_word_so_that_the_record_says_what_was_read(tiny_model):
    import diffusers

    pipeline = diffusers.StableDiffusionInpaintPipeline.from_pretrained(tiny_model("sd2"))
    prompt, left_out = cut_words(pipeline, "red ball " * 40)
    assert (
        len(pipeline.tokenizer(prompt)["input_ids"]) <= 77 < len(pipeline.tokenizer(f"{prompt} ball")["input_ids"]) + 5
    )
    assert left_out == {"tokenizer": len(pipeline.tokenizer("red ball " * 40)["input_ids"]) - 77}
    assert cut_words(pipeline, "red ball") == ("red ball", {})


def test_text_to_image(tiny_model):
    options = {"text_model": tiny_model("sd2_text"), "steps": 2, "text_side": 64}
    config = EditConfig(editors=["sd2"], options={"sd2": options}, device="cpu")
    generate = load_generator("sd2", config)
    one, other = generate([("a red ball", 1), ("a red ball", 2)])
    assert one.image.shape == (64, 64, 3)
    assert not np.array_equal(one.image, other.image)
    assert np.array_equal(generate([("a red ball", 1)])[0].image, one.image)
    assert one.parameters["prompt"] == "a red ball"


def test_what_cannot_be_loaded_is_named(tmp_path, tiny_model):
    with pytest.raises(RuntimeError, match="Expected the model of 'sd2' to be loaded, got"):
        editor("sd2", {"model": str(tmp_path / "nothing")})
    with pytest.raises(ValueError, match=r"Expected options of 'sd2' .*got step"):
        editor("sd2", {"step": 3})
    with pytest.raises(RuntimeError, match="an accelerator to offload from"):
        load_editor(
            "sd2",
            EditConfig(editors=["sd2"], options={"sd2": {"model": tiny_model("sd2")}}, device="cpu", offload="model"),
        )


def test_one_image_that_fails_does_not_take_its_batch_with_it(learned_options):
    function = editor("sd2", learned_options("sd2"))
    broken = EditTask(np.zeros((0, 5, 3), np.uint8), np.zeros((0, 5), bool), np.random.default_rng(0), image)
    outputs = run_editor(function, [task(image(), region()), broken, task(image(seed=2), region())])
    assert [type(one) for one in outputs] == [EditorOutput, Failure, EditorOutput]
    alone = run_editor(function, [task(image(seed=2), region())])[0]
    assert np.array_equal(outputs[2].image, alone.image)


def test_half_precision_runs(learned_options):
    options = {**learned_options("sd2"), "dtype": "bf16"}
    output = run_editor(editor("sd2", options), [task(image(), region())])[0]
    assert isinstance(output, EditorOutput), output
    assert output.parameters["dtype"] == "bfloat16"
    assert output.image.std() > 1


def test_every_row_is_usable_data():
    for name, row in DIFFUSION.items():
        assert EDITORS[name].about
        assert row.steps > 0
        assert row.side % row.multiple == 0
        assert row.smallest % row.multiple == 0
        assert row.licence
        assert row.gigabytes > 0
