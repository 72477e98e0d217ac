"""The public names are a promise that changes only on purpose; importing the package costs next to nothing."""

import subprocess
import sys

import forensegm

PUBLIC = [
    "Sample",
    "LabelSpace",
    "Config",
    "build_edits",
    "open_dataset",
    "distort",
    "create_model",
    "list_models",
    "pool_mask",
    "SegmentationMetrics",
    "DetectionMetrics",
    "train",
    "evaluate",
    "robustness",
    "compare",
    "Predictor",
    "Prediction",
    "export",
    "write_report",
]

HEAVY = ("torch", "cv2", "numpy", "matplotlib", "wandb", "jsonargparse")


def test_the_public_names_are_these() -> None:
    assert list(forensegm.__all__) == PUBLIC
    assert set(dir(forensegm)) == {*PUBLIC, "__version__"}


def test_every_public_name_exists_and_is_explained() -> None:
    for name in PUBLIC:
        part = getattr(forensegm, name)
        assert callable(part), name
        assert part.__doc__, name
        assert part.__name__ == name


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(forensegm, "no_such_name")


def test_importing_is_light() -> None:
    code = "import sys, time; t = time.process_time(); import forensegm; s = time.process_time() - t;"
    code += f"print(s, *(name for name in {HEAVY} if name in sys.modules))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert output[1:] == []
    assert float(output[0]) < 0.5
