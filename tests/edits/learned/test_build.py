"""Whole builds with models: diffusion editors, generated bases, both compositions, Ray; all tiny, all real classes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from forensegm.config import EditConfig
from forensegm.datasets.records import read_dataset_yaml, read_records, rle_decode
from forensegm.edits import EDITORS, build_edits, estimate
from forensegm.edits.loading import unload
from forensegm.imageio import MaskSpec, read_image, read_mask, write_image


@pytest.fixture(autouse=True)
def no_models_left():
    yield
    unload()


@pytest.fixture(scope="module")
def photo_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    for number in range(5):
        y, x = np.mgrid[:80, :100]
        waves = np.stack([np.sin(x / (4 + number) + c) + np.cos(y / 9 - number) for c in range(3)], axis=2)
        noise = np.random.default_rng(number).normal(0, 5, (80, 100, 3))
        write_image(folder / f"scene{number}.png", np.clip(120 + 40 * waves + noise, 0, 255).astype(np.uint8))
    return folder


@pytest.fixture
def config(photo_folder, tmp_path, learned_options):
    names = ["sd2", "instruct_pix2pix", "telea"]
    return EditConfig(
        photos=str(photo_folder),
        out=str(tmp_path / "data"),
        images=10,
        size=66,
        authentic_share=0.2,
        editors=names,
        options={name: learned_options(name) for name in names[:2]},
        device="cpu",
        workers=1,
        batch=4,
    )


def contents(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in Path(root).rglob("*") if path.is_file()}


def test_splice_and_regenerate_side_by_side(config, photo_folder):
    build_edits(replace(config, intermediates=True))
    root = Path(config.out)
    modes = set()
    for record in read_records(root):
        image = read_image(root / record.image)
        left, top, right, bottom = record.source["crop_xyxy"]
        before = read_image(photo_folder / record.source["name"])[top:bottom, left:right]
        for edit in record.edits:
            after = read_image(root / f"steps/{record.id}_{edit.turn}.png")
            region, changed = rle_decode(edit.mask), rle_decode(edit.changed_mask)
            assert np.array_equal(changed, (after != before).any(axis=2))
            assert edit.composite == ("regenerate" if edit.editor == "instruct_pix2pix" else "splice")
            if edit.composite == "splice":
                assert edit.changed_outside == 0
                assert np.array_equal(after[~region], before[~region])
            else:
                assert edit.changed_outside > 0.5
            modes.add(edit.composite)
            before = after
        assert np.array_equal(image, before)
    assert modes == {"splice", "regenerate"}


def test_every_editor_can_regenerate_when_told_to(config):
    build_edits(replace(config, composite="regenerate", editors=["sd2"], options={"sd2": config.options["sd2"]}))
    edits = [edit for record in read_records(Path(config.out)) for edit in record.edits]
    assert {edit.composite for edit in edits} == {"regenerate"}
    assert all(edit.changed_outside > 0.5 for edit in edits)


def test_the_same_bytes_again_and_after_an_interruption(config, tmp_path):
    def stop(stage, done, _total, _info):
        if stage == "edits" and done >= 4:
            raise KeyboardInterrupt

    build_edits(replace(config, out=str(tmp_path / "whole")))
    with pytest.raises(KeyboardInterrupt):
        build_edits(config, progress=stop)
    unload()
    build_edits(config)
    assert contents(config.out) == contents(tmp_path / "whole")


def test_base_images_generated_from_captions_are_labelled_whole(config, tmp_path, tiny_model):
    captions = tmp_path / "captions.txt"
    captions.write_text("a red ball on the table\n\nan old wooden chair\nmake it blue\nstriped umbrella\n")
    sd2 = {**config.options["sd2"], "text_model": tiny_model("sd2_text"), "text_side": 72}
    build_edits(
        replace(
            config,
            captions=str(captions),
            generators=["sd2"],
            generated_share=0.5,
            options={**config.options, "sd2": sd2},
        )
    )
    root = Path(config.out)
    records = read_records(root)
    generated = [record for record in records if record.base == "generated"]
    sizes = [sum(record.split == split for record in records) for split in ("train", "val", "test")]
    assert len(generated) == sum(min(round(0.5 * size), size - round(0.2 * size)) for size in sizes)
    assert all(record.split == other.split for record in records for other in records if record.group == other.group)
    for record in generated:
        mask = read_mask(root / record.mask, MaskSpec("ids", 4))
        expected = np.full((66, 66), 1, np.uint8)
        for edit in record.edits:
            expected[rle_decode(edit.mask)] = config.editors.index(edit.editor) + 1
        assert np.array_equal(mask, expected)
        turns = read_mask(root / record.turns, MaskSpec("ids", 4))
        assert (turns == 0).any()  # never edited, yet not authentic
        assert record.source["generator"] == "sd2"
        assert record.source["caption"] == record.source["prompt"]
    assert read_dataset_yaml(root).counts["full"] == len(generated)


def test_only_generated_images(config, tmp_path, tiny_model):
    captions = tmp_path / "captions.txt"
    captions.write_text("\n".join(f"a ball, number {number}" for number in range(6)))
    sd2 = {**config.options["sd2"], "text_model": tiny_model("sd2_text"), "text_side": 64}
    summary = build_edits(
        replace(
            config,
            photos="none",
            captions=str(captions),
            generators=["sd2"],
            generated_share=1.0,
            authentic_share=0.0,
            editors=["sd2"],
            options={"sd2": sd2},
            size=0,
            images=4,
        )
    )
    assert summary.counts["full"] == summary.counts["images"] == 4
    assert all(record.size == [64, 64] for record in read_records(Path(config.out)))


def test_models_make_room_for_each_other(config, tmp_path, monkeypatch):
    from forensegm.edits import loading

    most = []
    load = loading.ready

    def counted(*arguments, **options):
        part = load(*arguments, **options)
        most.append(len(loading._taking_turns))
        return part

    build_edits(replace(config, out=str(tmp_path / "all")))
    unload()
    monkeypatch.setattr("forensegm.edits.editors.running.ready", counted)
    build_edits(replace(config, max_loaded=1))
    assert max(most) == 1
    assert contents(config.out) == contents(tmp_path / "all")


def test_a_model_that_is_not_there_ends_the_build_at_once(config):
    with pytest.raises(RuntimeError, match="Expected the model of 'sd2' to be loaded"):
        build_edits(replace(config, options={"sd2": {"model": "./nothing/here"}}, local_files_only=True))
    assert not Path(config.out, "dataset.yaml").exists()


def test_an_estimate_loads_nothing_and_writes_nothing(config):
    found = estimate(config)
    assert sum(found.images.values()) == 10
    assert {model.part for model in found.models} == {"sd2", "instruct_pix2pix"}
    assert all(model.here for model in found.models)
    assert found.megabytes > 0
    assert found.images_per_hour > 0
    assert found.workers == 1
    assert found.tflop == pytest.approx(sum(EDITORS[name].cost * count for name, count in found.turns.items()))
    assert not Path(config.out).exists()


def test_an_estimate_counts_generated_bases(config, tmp_path):
    (tmp_path / "captions.txt").write_text("a ball\na dog\na cat\nan old chair\n")
    own = {"captions": str(tmp_path / "captions.txt"), "generators": ["sd2"], "generated_share": 0.5}
    found = estimate(replace(config, **own))
    calls = found.turns["sd2"] + found.bases["sd2"]
    rest = EDITORS["instruct_pix2pix"].cost * found.turns.get("instruct_pix2pix", 0)
    assert found.tflop == pytest.approx(EDITORS["sd2"].cost * calls + rest)


DIES_ONCE = """
import os, signal
from pathlib import Path
from forensegm.edits import EditorOutput

def dies_once(task):
    mark = Path(os.environ["FORENSEGM_TEST_MARK"])
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return EditorOutput(255 - task.image)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")
def test_ray_with_two_workers_one_of_which_is_killed(config, tmp_path, monkeypatch):
    pytest.importorskip("ray")
    (tmp_path / "deadly.py").write_text(DIES_ONCE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("FORENSEGM_TEST_MARK", str(tmp_path / "mark"))
    config = replace(config, editors=["deadly:dies_once", "telea"], options={}, images=16, batch=2)
    summary = build_edits(replace(config, engine="ray", workers=2))
    assert (tmp_path / "mark").exists()
    assert summary.finished
    assert len({record.id for record in read_records(Path(config.out))}) == 16
    build_edits(replace(config, out=str(tmp_path / "alone")))
    assert contents(config.out) == contents(tmp_path / "alone")
