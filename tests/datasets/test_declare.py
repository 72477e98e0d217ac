import pytest

from forensegm.datasets.declare import declare
from forensegm.sample import LabelSpace


def test_binary():
    labels, spec = declare("binary", None)
    assert labels.editors == ("editor_1",)
    assert (spec.kind, spec.editor) == ("binary", 1)
    labels, spec = declare("binary", ["sd2", "flux"], editor="flux", mask_threshold=10)
    assert (spec.editor, spec.threshold) == (2, 10)


def test_ids():
    labels, spec = declare("ids", 8, ignore=255)
    assert labels == LabelSpace.opaque(8)
    assert (spec.num_classes, spec.ignore) == (9, 255)


def test_values_name_classes():
    labels, spec = declare("tones", None, mask_values={"0": "authentic", "128": "ignore", "255": "flux"})
    assert labels.editors == ("flux",)
    assert spec.values == {0: 0, 128: 255, 255: 1}
    labels, spec = declare("colours", ["a", "b"], mask_values={"#FF0000": "b", "#000000": 0})
    assert spec.values == {"#ff0000": 2, "#000000": 0}
    labels, spec = declare("tones", None, mask_values={0: 0, 1: 3})
    assert labels == LabelSpace.opaque(3)


def test_a_palette_holds_ids_or_values():
    assert declare("palette", 2)[1].values == {}
    assert declare("palette", None, mask_values={0: 0, 7: "flux"})[1].values == {0: 0, 7: 1}


@pytest.mark.parametrize(
    ("kind", "labels", "options", "message"),
    [
        ("ids", None, {}, "labels for masks of kind ids"),
        ("palette", None, {}, "labels for masks of kind palette"),
        ("tones", None, {}, "mask_values for masks of kind tones"),
        ("binary", ["a", "b"], {}, "one of a, b, got none"),
        ("binary", None, {"mask_values": {0: 0}}, "values only for masks"),
        ("ids", 2, {"editor": "a"}, "no editor"),
        ("ids", 2, {"mask_threshold": 3}, "no mask_threshold|no editor and no"),
        ("ids", "flux", {}, "list of editor names"),
        ("tones", ["a"], {"mask_values": {0: "b"}}, "Expected one of authentic, a, got 'b'"),
        ("tones", ["a"], {"mask_values": {0: 2}}, "or an id, got 2"),
        ("tones", ["a"], {"mask_values": {0: True}}, "or an id, got True"),
        ("tones", ["a"], {"mask_values": {1.5: 0}}, "number or a colour"),
        ("tone", 2, {}, "Did you mean tones"),
    ],
)
def test_wrong_declarations(kind, labels, options, message):
    with pytest.raises(ValueError, match=message):
        declare(kind, labels, **options)
