"""Mistakes in a configuration are told before any work, all at once."""

import pytest

from forensegm.config import EditConfig
from forensegm.edits.check import check_config


def test_defaults_are_fine():
    check_config(EditConfig())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"images": 2}, r"edit\.images: Expected at least 3"),
        ({"size": 8}, r"edit\.size: Expected at least 32 pixels, or 0 for whole images, got 8"),
        ({"authentic_share": 1.2}, r"edit\.authentic_share: Expected 0\.\.1, got 1\.2"),
        ({"turns": []}, r"edit\.turns"),
        ({"turns": [0.0, 0.0]}, r"edit\.turns"),
        ({"turns": [1.0, float("nan")]}, r"edit\.turns"),
        ({"editors": []}, r"edit\.editors: Expected 1 to 254 editors, got 0"),
        ({"editors": ["telea", "telea"]}, "got telea more than once"),
        ({"editors": ["copymove"]}, "Did you mean copy_move"),
        ({"editors": ["no_such_module:fn"]}, "to be importable"),
        ({"region_area": (0.3, 0.2)}, r"edit\.region_area: Expected 0 < smallest <= largest < 1, got 0\.3 and 0\.2"),
        ({"region_area": (0.0, 0.2)}, r"edit\.region_area"),
        ({"split": (0.5, 0.5, 0.5)}, r"edit\.split: Expected three shares of 0\.\.1 with a sum of 1"),
        ({"codec": "jpg"}, r"edit\.codec"),
        ({"codec": "jpeg:0"}, r"edit\.codec"),
        ({"seed": -1}, r"edit\.seed"),
        ({"workers": -1}, r"edit\.workers"),
        ({"out": ""}, r"edit\.out"),
        ({"shares": {"tela": 2.0}}, r"edit\.shares: Expected names of edit\.editors, got tela"),
        ({"editors": ["telea"], "shares": {"telea": 0.0}}, r"edit\.shares: Expected frequencies"),
        ({"planner": "rule"}, r"edit\.planner: .*Did you mean rules"),
        ({"regions": ["shape"]}, r"edit\.regions: .*Did you mean shapes"),
        ({"regions": []}, r"edit\.regions: Expected at least one"),
        ({"editors": ["glide"]}, r"edit\.editors: .*diffusers has no GLIDE"),
        ({"editors": ["sd2"], "options": {"sd2": {"step": 3}}}, r"edit\.options: Expected options of 'sd2' .*got step"),
        ({"options": {"sd2": {"steps": 3}}}, r"edit\.options: Expected options of parts that are used"),
        ({"options": {"telea": {"radius": 3}}}, r"edit\.options: Expected options of 'telea' \(none\)"),
        ({"generated_share": 0.5}, r"edit\.generated_share: Expected edit\.captions and edit\.generators"),
        ({"captions": "a.txt"}, r"edit\.captions: Expected a share"),
        ({"generators": ["sdxl"]}, r"edit\.generators: Expected names of edit\.editors"),
        ({"generators": ["telea"]}, r"edit\.generators: Expected editors with a text-to-image model"),
        ({"photos": "none"}, r"edit\.photos: Expected generated_share 1"),
        ({"codecs": {"jpeg:90..70": 1.0}}, r"edit\.codecs: Expected the lower quality first"),
        ({"codecs": {"jpeg:70..101": 1.0}}, r"edit\.codecs"),
        ({"codecs": {"png": 0.0}}, r"edit\.codecs: Expected frequencies above 0"),
        ({"min_agreement": 1.5}, r"edit\.min_agreement: Expected 0\.\.1"),
        ({"feather": -1.0}, r"edit\.feather: Expected 0 or more"),
        ({"batch": 0}, r"edit\.batch: Expected 1 or more"),
        ({"shard": "4/3"}, r"edit\.shard: Expected i/n"),
        ({"shard": "half"}, r"edit\.shard: Expected i/n"),
    ],
)
def test_each_mistake_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        check_config(EditConfig(**options))


def test_all_mistakes_come_together_in_one_line():
    with pytest.raises(ValueError, match="3 mistakes") as caught:
        check_config(EditConfig(images=0, codec="bmp", editors=["tela"]))
    message = str(caught.value)
    assert all(part in message for part in ("edit.images", "edit.codec", "Did you mean telea"))
    assert "\n" not in message


def test_out_inside_the_photographs(tmp_path):
    with pytest.raises(ValueError, match="outside the photographs"):
        check_config(EditConfig(photos=str(tmp_path), out=str(tmp_path / "built")))
