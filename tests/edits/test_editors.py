"""The contract of every editor in the table, and of the user's own."""

import numpy as np
import pytest

from forensegm.config import EditConfig
from forensegm.edits import EDITORS, Editor, EditorOutput, EditTask
from forensegm.edits.audit import measure_change, verdict
from forensegm.edits.compose import compose
from forensegm.edits.editors import OFFLINE, find_editor
from forensegm.edits.editors.offline.blend import is_grey


def textured(hw, seed=0, grey=False):
    """A scene with shades, edges and noise."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[: hw[0], : hw[1]]
    waves = np.stack(
        [np.sin(x / 5 + 1.3 * c + seed) + np.cos(y / 7 - c) + (x + y > sum(hw) / 2) for c in range(3)], axis=2
    )
    image = np.clip(110 + 35 * waves + rng.normal(0, 4, (*hw, 3)), 0, 255).astype(np.uint8)
    return np.repeat(image[..., :1], 3, axis=2) if grey else image


def disc(hw, center, radius):
    y, x = np.mgrid[: hw[0], : hw[1]]
    return np.hypot(y - center[0], x - center[1]) < radius


ODD = (61, 83)
CASES = {
    "odd size": (textured(ODD), disc(ODD, (30, 40), 12)),
    "grey": (textured(ODD, grey=True), disc(ODD, (30, 40), 12)),
    "corner": (textured(ODD), disc(ODD, (0, 82), 20)),
    "two borders": (textured(ODD), disc(ODD, (30, 40), 34) & ~disc(ODD, (30, 40), 15)),
    "two parts": (textured((96, 64)), disc((96, 64), (20, 20), 9) | disc((96, 64), (70, 40), 7)),
    "one pixel": (textured(ODD), disc(ODD, (30, 40), 1)),
    "nearly all": (textured((40, 48)), ~disc((40, 48), (20, 20), 5)),
    "everything": (textured((40, 48)), np.ones((40, 48), bool)),
}


def task(image, region, seed=0):
    draws = iter(range(1, 9))
    rng = np.random.default_rng(seed)
    return EditTask(image, region, rng, lambda: textured(image.shape[:2], seed=next(draws)), "change", "Change it.")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", OFFLINE)
def test_contract(name, case):
    image, region = CASES[case]
    kept_image, kept_region = image.copy(), region.copy()
    image.setflags(write=False)
    region.setflags(write=False)
    output = EDITORS[name](task(image, region))
    assert np.array_equal(image, kept_image)
    assert np.array_equal(region, kept_region)

    after = compose(image, output.image, region, mode=EDITORS[name].composite, editor=name).image
    assert np.array_equal(after[~region], image[~region])
    again = EDITORS[name](task(image, region))
    assert output.image.tobytes() == again.image.tobytes()
    assert output.parameters == again.parameters
    if case not in ("one pixel", "everything"):
        assert verdict(measure_change(image, after, region), image, output.image, region, EditConfig()) == ""
    if case == "grey":
        assert is_grey(after)


@pytest.mark.parametrize("name", OFFLINE)
def test_seed_matters(name):
    image, region = CASES["odd size"]
    outputs = [EDITORS[name](task(image, region, seed)) for seed in range(6)]
    assert len({output.image[region].tobytes() for output in outputs}) > 1


@pytest.mark.parametrize("name", OFFLINE)
def test_flat_image_is_no_failure(name):
    image = np.full((*ODD, 3), 128, np.uint8)
    region = disc(ODD, (30, 40), 12)
    assert EDITORS[name](task(image, region)).image.shape == image.shape


USERS_EDITOR = '''
import numpy as np
from forensegm.edits import Editor, EditorOutput


def negative(task):
    """Turn the region into its negative."""
    return EditorOutput(255 - task.image, {"strength": 1.0})


def darken(task):
    strength = task.rng.uniform(0.3, 0.7)
    return EditorOutput(np.uint8(task.image * strength), {"strength": strength})


adder = Editor(darken, kinds=("add",))
'''


def test_users_own_editor(tmp_path, monkeypatch):
    (tmp_path / "my_editors.py").write_text(USERS_EDITOR)
    monkeypatch.syspath_prepend(tmp_path)
    image, region = CASES["odd size"]
    plain = find_editor("my_editors:negative")
    assert plain.kinds == ("change",)
    assert np.array_equal(plain(task(image, region)).image, 255 - image)
    assert find_editor("my_editors:adder").kinds == ("add",)


def test_editor_passed_as_object():
    def same(request):
        return EditorOutput(request.image)

    assert find_editor(same).run is same
    editor = Editor(same, kinds=("remove",))
    assert find_editor(editor) is editor


def test_typo_is_named():
    with pytest.raises(ValueError, match=r"Expected a known editor, got 'tela'\. Did you mean telea"):
        find_editor("tela")
