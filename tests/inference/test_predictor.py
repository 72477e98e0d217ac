"""The decision rule by hand, batches against single images, tiles against whole images, and an oracle."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from forensegm.checkpoint import save_checkpoint
from forensegm.imageio import MaskSpec, read_image, read_mask, write_image
from forensegm.inference import Predictor
from forensegm.metrics.confusion import confusion_counts
from forensegm.models import create_model
from forensegm.models.segmenter import Network, Segmenter
from forensegm.sample import LabelSpace

LABELS = LabelSpace(("telea", "copy_move"))


def predictor_of(module: nn.Module, *, stride: int = 32, labels: LabelSpace = LABELS, **options: object) -> Predictor:
    """A predictor on the CPU in fp32 around a module that takes plain images in 0..1."""
    network = Network(module, stride=stride, mean=(0.0,) * 3, std=(1.0,) * 3, origin="by hand")
    spec = {"name": "by hand", "classes": labels.num_classes, "frontend": "none", "weights": "by hand"}
    return Predictor(Segmenter(network, spec=spec), labels, **{"device": "cpu", "precision": "fp32", **options})


class Oracle(nn.Module):
    """Logits that are the channels of the image: red says authentic, green telea, blue copy_move."""

    calls = 0

    def forward(self, images: Tensor) -> Tensor:
        self.calls += 1
        return images * 40


class Smooth(nn.Module):
    """A network whose answer depends on a few neighbours only."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 3, 3, padding=1))

    def forward(self, images: Tensor) -> Tensor:
        return self.layers(images) * 4


def random_image(*hw: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (*hw, 3), dtype=np.uint8)


def test_decision_rule_by_hand() -> None:
    probs = np.array([[[0.6, 0.5, 0.2, 0.1]], [[0.3, 0.2, 0.7, 0.2]], [[0.1, 0.3, 0.1, 0.7]]], dtype=np.float32)
    thresholds = {"pixel": 0.5, "image": 0.65, "pooling": "mean", "source": "by hand"}
    found = predictor_of(Oracle(), thresholds=thresholds).decide(probs)
    np.testing.assert_allclose(found.edited_prob, [[0.4, 0.5, 0.8, 0.9]], atol=1e-6)
    assert found.class_map.tolist() == [[0, 2, 1, 2]]  # a threshold that is reached counts
    assert found.class_map.dtype == np.uint8
    assert found.edited_prob.dtype == np.float32
    assert found.image_score == pytest.approx(0.65, abs=1e-6)
    assert found.is_fake is (found.image_score >= 0.65)
    assert (found.image_threshold, found.pooling, found.labels) == (0.65, "mean", LABELS)
    assert found.editor == "copy_move"
    # of the flagged pixels: telea .2 + .7 + .2, copy_move .3 + .1 + .7
    assert found.editor_scores == pytest.approx({"telea": 0.5, "copy_move": 0.5}, abs=1e-6)


@pytest.mark.parametrize(
    ("pixel", "expected", "editor"),
    [(0.0, [[1, 2, 1, 2]], "telea"), (0.85, [[0, 0, 0, 2]], "copy_move"), (1.0, [[0, 0, 0, 0]], None)],
)
def test_pixel_threshold(pixel: float, expected: list[list[int]], editor: str | None) -> None:
    probs = np.array([[[0.6, 0.5, 0.2, 0.1]], [[0.3, 0.2, 0.7, 0.2]], [[0.1, 0.3, 0.1, 0.7]]], dtype=np.float32)
    found = predictor_of(Oracle(), thresholds={"pixel": pixel}).decide(probs)
    assert found.class_map.tolist() == expected
    assert found.editor == editor


@pytest.mark.parametrize(("image", "expected"), [(0.5, True), (0.99, False)])
def test_image_threshold(image: float, expected: bool) -> None:
    probs = np.stack([np.full((5, 5), share, np.float32) for share in (0.25, 0.5, 0.25)])
    assert predictor_of(Oracle(), thresholds={"image": image}).decide(probs).is_fake is expected


def test_case_26_scores_are_at_original_size(shared: Path) -> None:
    folder = shared / "cases" / "26_pad_vs_resize_eval"
    expected = json.loads((folder / "expected.json").read_text())
    for name, hw in expected["output_hw"].items():
        mask = read_mask(folder / f"{name}_mask.png", MaskSpec("binary"))
        says_its_mask = np.zeros((*mask.shape, 3), dtype=np.uint8)
        says_its_mask[mask == 0, 0], says_its_mask[mask == 1, 1] = 255, 255
        for tile in (0, 24):
            found = predictor_of(Oracle(), tile=tile, overlap=4)(says_its_mask)
            assert list(found.class_map.shape) == list(found.edited_prob.shape) == hw
            counts = confusion_counts(found.class_map, mask, 3)
            f1 = 2 * counts[1, 1] / (counts[1].sum() + counts[:, 1].sum())
            assert f1 == expected["oracle_f1_padding"]
        assert list(predictor_of(Oracle())(folder / f"{name}.png").class_map.shape) == hw


def test_batches_of_mixed_sizes_equal_single_images() -> None:
    module = Oracle()
    predictor = predictor_of(module, tile=48, overlap=8)
    images = [random_image(*hw, seed=seed) for seed, hw in enumerate([(20, 30), (20, 30), (1, 1), (60, 50), (20, 30)])]
    batch = predictor.predict_batch(images)
    assert module.calls == 1 + 1 + 4 + 1  # two of one size together, one, four tiles, one
    for image, found in zip(images, batch, strict=True):
        alone = predictor(image)
        np.testing.assert_allclose(found.edited_prob, alone.edited_prob, atol=1e-6)
        assert np.array_equal(found.class_map, alone.class_map)
        assert found.image_score == pytest.approx(alone.image_score, abs=1e-6)
    assert predictor.predict_batch([]) == []


def test_path_and_array_agree(tmp_path: Path) -> None:
    image = random_image(21, 35)
    write_image(tmp_path / "image.png", image)
    predictor = predictor_of(Smooth())
    expected = predictor(image)
    for path in (tmp_path / "image.png", str(tmp_path / "image.png")):
        assert np.array_equal(predictor(path).edited_prob, expected.edited_prob)
    assert np.array_equal(read_image(tmp_path / "image.png"), image)


def test_tensors_of_bytes_and_of_floats_agree() -> None:
    predictor = predictor_of(Smooth())
    batch = torch.from_numpy(random_image(20, 20)).permute(2, 0, 1)[None]
    torch.testing.assert_close(predictor.probabilities(batch), predictor.probabilities(batch.float() / 255))


@pytest.mark.parametrize("precision", ["auto", "bf16"])
def test_precisions_are_close(precision: str) -> None:
    image = random_image(40, 50)
    exact = predictor_of(Smooth())(image)
    found = predictor_of(Smooth(), precision=precision)(image)
    assert found.edited_prob.dtype == np.float32
    np.testing.assert_allclose(found.edited_prob, exact.edited_prob, atol=0.05)


def test_tiles_and_the_whole_image_are_close() -> None:
    image = random_image(150, 90)
    whole = predictor_of(Smooth(), stride=1, tile=0)(image).edited_prob
    tiles = predictor_of(Smooth(), stride=1, tile=64, overlap=16)(image).edited_prob
    assert tiles.shape == whole.shape
    assert np.abs(tiles - whole).mean() < 0.005


def test_from_checkpoint(tmp_path: Path) -> None:
    model = create_model("smp:unet/resnet18", classes=3, weights="none")
    thresholds = {"pixel": 0.25, "image": 0.75, "pooling": "mean", "source": "validation (n=3)"}
    save_checkpoint(tmp_path / "best", model, labels=LABELS, preprocessing={}, thresholds=thresholds)
    image = random_image(33, 40)
    options = {"device": "cpu", "precision": "fp32", "tile": 512, "overlap": 32}
    loaded = Predictor.from_checkpoint(tmp_path / "best", **options)
    assert loaded.thresholds == thresholds
    assert (loaded.tile, loaded.overlap, loaded.labels) == (512, 32, LABELS)
    expected = Predictor(model, LABELS, thresholds=thresholds, **options)(image)
    np.testing.assert_allclose(loaded(image).edited_prob, expected.edited_prob, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "tpu9"}, "a device that is there, got 'tpu9'"),
        ({"tile": 64, "overlap": 64}, "overlap of 0 or more and below the tile 64, got 64"),
        ({"overlap": -1}, "overlap of 0 or more"),
        ({"thresholds": {"pooling": "meen"}}, "pooling, got 'meen'. Did you mean mean"),
    ],
)
def test_wrong_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        predictor_of(Oracle(), **options)


def test_labels_that_do_not_fit() -> None:
    model = predictor_of(Oracle()).model
    with pytest.raises(ValueError, match="a model of 2 classes, got one of 3"):
        Predictor(model, LabelSpace(("telea",)))


@pytest.mark.parametrize("image", [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3), np.float32)])
def test_what_is_no_image(image: np.ndarray) -> None:
    predictor = predictor_of(Oracle())
    with pytest.raises(ValueError, match="uint8 HxWx3"):
        predictor(image)
    with pytest.raises(ValueError, match="uint8 HxWx3"):
        predictor.predict_batch([random_image(4, 4), image])
