"""The whole build: the same bytes every time, labels that follow the turns, nothing half-written looks finished."""

import hashlib
import json
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from forensegm.config import EditConfig
from forensegm.datasets.records import read_dataset_yaml, read_records, rle_decode
from forensegm.edits import build_edits
from forensegm.imageio import MaskSpec, read_image, read_image_info, read_mask, write_image
from forensegm.sample import image_label

SIZE = 48
FILES = ["audit.json", "contact.html", "dataset.yaml", "images", "masks", "records.jsonl", "turns"]


@pytest.fixture(scope="module")
def photo_folder(tmp_path_factory):
    """Six small pictures with shades, edges and noise, and one broken file."""
    folder = tmp_path_factory.mktemp("photos")
    for number in range(6):
        rng = np.random.default_rng(number)
        y, x = np.mgrid[:90, :120]
        waves = np.stack([np.sin(x / (4 + number) + c) + np.cos(y / 9 - number) for c in range(3)], axis=2)
        image = np.clip(120 + 40 * waves + rng.normal(0, 5, (90, 120, 3)), 0, 255).astype(np.uint8)
        write_image(folder / f"scene{number}.png", image)
    (folder / "broken.png").write_bytes((folder / "scene0.png").read_bytes()[:900])
    return folder


@pytest.fixture
def config(photo_folder, tmp_path):
    return EditConfig(photos=str(photo_folder), out=str(tmp_path / "data"), images=18, size=SIZE, workers=1)


def hashes(root):
    files = sorted(path for path in Path(root).rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_same_bytes_for_any_worker_count_and_again(config, tmp_path):
    build_edits(config)
    first = hashes(config.out)
    build_edits(replace(config, out=str(tmp_path / "two"), workers=2))
    assert hashes(tmp_path / "two") == first
    assert build_edits(config).images_per_hour is None  # it is there already
    assert hashes(config.out) == first
    build_edits(replace(config, out=str(tmp_path / "other"), seed=1))
    assert hashes(tmp_path / "other")["images/000000.png"] != first["images/000000.png"]


def test_records_say_what_the_files_hold(config, photo_folder):
    steps = []
    summary = build_edits(config, progress=lambda *step: steps.append(step))
    root = Path(config.out)
    meta, records = read_dataset_yaml(root), read_records(root)
    spec = MaskSpec(kind="ids", num_classes=meta.labels.num_classes)
    covered = {"empty": 0, "partial": 0, "full": 0}
    for record in records:
        image, mask = read_image(root / record.image), read_mask(root / record.mask, spec)
        left, top, right, bottom = record.source["crop_xyxy"]
        photo = read_image(photo_folder / record.source["name"])[top:bottom, left:right]
        expected_mask, expected_turns = np.zeros_like(mask), np.zeros_like(mask)
        for number, edit in enumerate(record.edits, start=1):
            region = rle_decode(edit.mask)
            assert edit.turn == number
            assert edit.composite == "splice"
            assert edit.changed_outside == 0
            assert edit.changed_inside == pytest.approx(rle_decode(edit.changed_mask)[region].mean(), abs=1e-6)
            assert edit.instruction
            expected_mask[region] = meta.labels.id_of(edit.editor)
            expected_turns[region] = number
        assert np.array_equal(mask, expected_mask)
        turns = read_mask(root / record.turns, MaskSpec(kind="ids", num_classes=len(config.turns) + 1))
        assert np.array_equal(turns, expected_turns)
        assert np.array_equal(image[mask == 0], photo[mask == 0])
        assert record.size == [SIZE, SIZE]
        assert record.codec["codec"] == "PNG"
        covered[image_label(mask).coverage] += 1
    assert {key: summary.counts[key] for key in covered} == covered == {key: meta.counts[key] for key in covered}
    assert summary.counts["images"] == len(records) == config.images
    assert summary.counts["edited"] + summary.counts["authentic"] == config.images
    assert summary.counts["scenes"] == 6
    assert [Path(path).name for path, _ in summary.skipped] == ["broken.png"]
    assert ("photographs", 7, 7, "") in steps
    assert steps[-1][:3] == ("edits", 18, 18)
    assert steps[-1][3].endswith(" images/hour")
    assert sorted(path.name for path in root.iterdir()) == FILES


def test_scenes_stay_in_one_split(config):
    build_edits(config)
    splits = {}
    for record in read_records(Path(config.out)):
        splits.setdefault(record.group, set()).add(record.split)
    assert all(len(names) == 1 for names in splits.values())
    assert {name for names in splits.values() for name in names} == {"train", "val", "test"}


def test_one_encoder_for_all(config):
    build_edits(replace(config, codec="jpeg:80"))
    infos = {
        (info.codec, info.quality, info.subsampling)
        for info in map(read_image_info, Path(config.out, "images").iterdir())
    }
    assert len(infos) == 1
    assert infos.pop()[:2] == ("JPEG", 80)


OWN = """
import numpy as np
from forensegm.edits import EditorOutput

def idle(task):
    return EditorOutput(task.image)

def negative(task):
    return EditorOutput(255 - task.image)

def fails(task):
    raise ZeroDivisionError("on purpose")

def trims(task):
    return EditorOutput(np.where(task.region[..., None], 255 - task.image, task.image)[2:-2, 2:-2])

def mumbles(task):
    return EditorOutput(255 - task.image, {"array": task.region})

def moody(task):
    if task.rng.uniform() < 0.6:
        raise MemoryError("out of memory, half-way")
    return EditorOutput(255 - task.image)
"""


@pytest.fixture
def own_editors(tmp_path, monkeypatch):
    (tmp_path / "own_edits.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("own_editors")
@pytest.mark.parametrize("workers", [1, 2])
def test_own_editor(config, workers):
    summary = build_edits(replace(config, editors=["own_edits:negative", "telea"], images=6, workers=workers))
    assert read_dataset_yaml(Path(config.out)).labels.editors == ("own_edits:negative", "telea")
    assert summary.audit["own_edits:negative"]["accepted"] > 0


@pytest.mark.usefixtures("own_editors")
def test_an_image_whose_turns_did_nothing_is_authentic(config):
    summary = build_edits(replace(config, editors=["own_edits:idle"], authentic_share=0.0, turns=[0.0, 1.0]))
    assert summary.counts["authentic"] == summary.counts["empty"] == 18
    assert summary.counts["dropped_turns"] == 36
    assert summary.audit["own_edits:idle"] == {
        "accepted": 0,
        "retries": 108,
        "dropped": 36,
        "rejected_tries": {"unchanged": 144},
        "median": {},
    }
    assert all(record.edits == [] for record in read_records(Path(config.out)))


@pytest.mark.usefixtures("own_editors")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fails", "it raised ZeroDivisionError: on purpose"),
        ("mumbles", "it gave parameters that are not plain JSON types"),
    ],
)
def test_an_editor_that_always_fails_is_named_and_nothing_looks_finished(config, name, message):
    with pytest.raises(RuntimeError, match=f"'own_edits:{name}' failed every time.*'own_edits:{name}' on.*{message}"):
        build_edits(replace(config, editors=["telea", f"own_edits:{name}"]))
    assert not Path(config.out, "dataset.yaml").exists()


@pytest.mark.usefixtures("own_editors")
def test_turns_that_fail_in_a_row_stop_the_build(config):
    with pytest.raises(RuntimeError, match=r"turns in a row failed.*What|turns in a row failed.*kept"):
        build_edits(replace(config, editors=["own_edits:fails"], stop_after=3, batch=1))
    kept = len(list(Path(config.out, "parts").iterdir()))
    assert kept < 18


@pytest.mark.usefixtures("own_editors")
def test_an_editor_that_fails_now_and_then_is_retried_then_recorded_and_the_run_goes_on(config):
    summary = build_edits(replace(config, editors=["telea", "own_edits:moody"], authentic_share=0.0, retries=1))
    moody = summary.audit["own_edits:moody"]
    assert moody["accepted"] > 0
    assert moody["dropped"] > 0
    assert moody["rejected_tries"]["failed"] > moody["dropped"]
    assert "MemoryError: out of memory, half-way" in next(iter(moody["errors"]))
    audit = json.loads(Path(config.out, "audit.json").read_text())
    assert {one["editor"] for one in audit["dropped"]} == {"own_edits:moody"}
    assert audit["dropped_turns"] == moody["dropped"] == summary.counts["dropped_turns"]


@pytest.mark.usefixtures("own_editors")
def test_another_size_is_laid_on_the_input_or_refused(config):
    summary = build_edits(replace(config, editors=["own_edits:trims"], authentic_share=0.0))
    edits = [edit for record in read_records(Path(config.out)) for edit in record.edits]
    assert {edit.parameters["registered"] for edit in edits} == {"placed at the centre from 44x44"}
    # Where the region reaches into what was trimmed away, nothing can be laid over it.
    assert set(summary.audit["own_edits:trims"]["rejected_tries"]) == {"size"}


def stopped_at(images):
    def stop(stage, done, _total, _info):
        if stage == "edits" and done >= images:
            raise KeyboardInterrupt

    return stop


def test_ctrl_c_loses_nothing_and_the_build_goes_on(config, tmp_path):
    config = replace(config, batch=4)
    build_edits(replace(config, out=str(tmp_path / "whole")))
    with pytest.raises(KeyboardInterrupt):
        build_edits(config, progress=stopped_at(8))
    root = Path(config.out)
    assert not (root / "dataset.yaml").exists()
    assert not (root / "records.jsonl").exists()
    assert len(list((root / "parts").iterdir())) == 8
    first = (root / "images" / "000000.png").stat().st_mtime_ns
    with pytest.raises(ValueError, match=r"other settings \(images was 18, now 20\)"):
        build_edits(replace(config, images=20))
    steps = []
    build_edits(config, progress=lambda *step: steps.append(step[:3]))
    assert [step for step in steps if step[0] == "edits"] == [("edits", 12, 18), ("edits", 16, 18), ("edits", 18, 18)]
    assert (root / "images" / "000000.png").stat().st_mtime_ns == first
    assert hashes(config.out) == hashes(tmp_path / "whole")


def test_shards_make_the_same_data_set_and_the_last_one_finishes_it(config, tmp_path):
    config = replace(config, batch=2)
    build_edits(replace(config, out=str(tmp_path / "whole")))
    summaries = [build_edits(replace(config, shard=f"{number}/3")) for number in (2, 3, 1)]
    assert [one.finished for one in summaries] == [False, False, True]
    assert summaries[0].counts["images"] < summaries[1].counts["images"] < 18
    assert hashes(config.out) == hashes(tmp_path / "whole")
    assert build_edits(replace(config, shard="2/3")).finished


SHARD = """
import sys
from forensegm.config import EditConfig
from forensegm.edits import build_edits

if __name__ == "__main__":
    photos, out, shard = sys.argv[1:]
    build_edits(EditConfig(photos=photos, out=out, images=18, size=48, batch=3, workers=1, shard=shard))
"""


def test_shards_at_the_same_time(config, photo_folder, tmp_path):
    build_edits(replace(config, out=str(tmp_path / "whole"), batch=3))
    (tmp_path / "shard.py").write_text(SHARD)
    command = [sys.executable, tmp_path / "shard.py", photo_folder, config.out]
    shards = [subprocess.Popen([*command, f"{number}/3"]) for number in (1, 2, 3)]
    assert [shard.wait(timeout=300) for shard in shards] == [0, 0, 0]
    assert hashes(config.out) == hashes(tmp_path / "whole")


KILLED = """
import os, signal, sys
from forensegm.config import EditConfig
from forensegm.edits import build_edits

def stop(stage, done, total, info):
    if stage == "edits" and done >= 6:
        os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    build_edits(EditConfig(photos=sys.argv[1], out=sys.argv[2], images=18, size=48, batch=3, workers=1), progress=stop)
"""


def test_a_killed_build_goes_on_to_the_same_bytes(config, photo_folder, tmp_path):
    config = replace(config, batch=3)
    build_edits(replace(config, out=str(tmp_path / "whole")))
    (tmp_path / "killed.py").write_text(KILLED)
    done = subprocess.run([sys.executable, tmp_path / "killed.py", photo_folder, config.out], check=False, timeout=300)
    assert done.returncode == -signal.SIGKILL
    (Path(config.out) / "masks" / ".4567.tmp").write_bytes(b"half a file")
    build_edits(config)
    assert hashes(config.out) == hashes(tmp_path / "whole")


FULL_DISK = """
import resource, sys
from forensegm.config import EditConfig
from forensegm.edits import build_edits

if __name__ == "__main__":
    config = EditConfig(photos=sys.argv[1], out=sys.argv[2], images=18, size=48, batch=3, workers=1, codec="png")
    def limit(stage, done, total, info):
        if stage == "edits" and done >= 6:
            resource.setrlimit(resource.RLIMIT_FSIZE, (900, resource.RLIM_INFINITY))
    try:
        build_edits(config, progress=limit)
    except RuntimeError as error:
        sys.exit(str(error))
"""


def test_a_disk_that_takes_no_more_stops_cleanly_and_the_build_goes_on(config, photo_folder, tmp_path):
    config = replace(config, batch=3)
    build_edits(replace(config, out=str(tmp_path / "whole")))
    (tmp_path / "full.py").write_text(FULL_DISK)
    command = [sys.executable, tmp_path / "full.py", photo_folder, config.out]
    done = subprocess.run(command, check=False, timeout=300, capture_output=True, text=True)
    assert done.returncode == 1
    assert "File too large" in done.stderr
    assert "What is done is kept" in done.stderr
    assert not list(Path(config.out).rglob(".*.tmp"))
    assert len(list(Path(config.out, "parts").iterdir())) == 6
    build_edits(config)
    assert hashes(config.out) == hashes(tmp_path / "whole")


def test_other_photographs_are_not_mixed_into_an_unfinished_build(config, photo_folder, tmp_path):
    own = tmp_path / "own"
    shutil.copytree(photo_folder, own)
    config = replace(config, photos=str(own), batch=3)
    with pytest.raises(KeyboardInterrupt):
        build_edits(config, progress=stopped_at(6))
    write_image(own / "scene9.png", 255 - read_image(own / "scene1.png"))
    with pytest.raises(ValueError, match="built with the same pixels"):
        build_edits(config)


def test_a_finished_set_of_other_settings_is_refused_untouched(config):
    build_edits(config)
    before = hashes(config.out)
    with pytest.raises(ValueError, match=r"one of other settings \(seed was 0, now 3, size was 48, now 40\)"):
        build_edits(replace(config, seed=3, size=40))
    assert hashes(config.out) == before


def test_a_set_built_before_an_option_existed_had_its_default(config):
    build_edits(config)
    path = Path(config.out, "dataset.yaml")
    text = path.read_text()
    assert "    feather: 0.0\n" in text
    path.write_text(text.replace("    feather: 0.0\n", ""))
    assert build_edits(config).counts["images"] == 18
    with pytest.raises(ValueError, match=r"other settings \(feather was 0\.0, now 2\.0\)"):
        build_edits(replace(config, feather=2.0))


@pytest.mark.parametrize("name", ["notes.txt", "dataset.yaml", "building.json"])
def test_foreign_files_are_refused_untouched(config, name):
    Path(config.out).mkdir()
    Path(config.out, name).write_text(json.dumps({"name": "mine"}))
    with pytest.raises(ValueError, match=r"Name another edit\.out"):
        build_edits(config)
    assert [path.name for path in Path(config.out).iterdir()] == [name]


def test_a_file_in_place_of_the_folder(config):
    Path(config.out).write_text("")
    with pytest.raises(ValueError, match="to be a folder or absent, got a file"):
        build_edits(config)


def test_too_few_photographs_leave_nothing_behind(config, tmp_path):
    few = tmp_path / "few"
    few.mkdir()
    write_image(few / "only.png", np.zeros((64, 64, 3), np.uint8))
    (few / "broken.jpg").write_bytes(b"\xff\xd8\xff")
    with pytest.raises(ValueError, match=r"at least 3 usable photographs in .* got 1 in 2 image files.*broken\.jpg"):
        build_edits(replace(config, photos=str(few)))
    with pytest.raises(FileNotFoundError, match="Expected a folder of photographs"):
        build_edits(replace(config, photos=str(tmp_path / "nowhere")))
    assert not Path(config.out).exists()


def test_a_set_of_one_split_needs_one_photograph(config, tmp_path, photo_folder):
    single = tmp_path / "single"
    single.mkdir()
    (single / "one.png").write_bytes((photo_folder / "scene1.png").read_bytes())
    summary = build_edits(replace(config, photos=str(single), split=(0.0, 0.0, 1.0), editors=["poisson_splice"]))
    assert summary.counts["splits"] == {"train": 0, "val": 0, "test": 18}
    records = read_records(Path(config.out))
    assert {name for record in records for edit in record.edits for name in edit.parameters["donors"]} == {"one.png"}
