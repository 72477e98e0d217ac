from dataclasses import fields

import pytest

from forensegm.datasets.fields import TYPES, check_choice, checked, fail
from forensegm.datasets.records import Base, DatasetMeta, Edit, Record


@pytest.mark.parametrize("cls", [DatasetMeta, Edit, Record])
def test_every_annotation_has_a_check(cls):
    assert {str(item.type) for item in fields(cls)} <= set(TYPES)


def test_a_number_may_be_whole_and_a_truth_value_is_none():
    values = {"turn": 1, "editor": "a", "kind": "add", "instruction": "", "seed": 0, "parameters": {}}
    values |= {"composite": "splice", "mask": {}, "changed_inside": 1, "changed_outside": 0.0}
    assert checked(Edit, values, "here") == values
    for wrong in (True, "1", None):
        with pytest.raises(ValueError, match="'changed_inside' to be a number in here"):
            checked(Edit, {**values, "changed_inside": wrong}, "here")
    with pytest.raises(ValueError, match="the keys of Edit in here, got list"):
        checked(Edit, [], "here")


def test_choices_and_failures():
    check_choice("base", "photo", Base, "here")
    with pytest.raises(ValueError, match=r"Expected 'base' to be photo or generated in here, got 'x'\."):
        check_choice("base", "x", Base, "here")
    with pytest.raises(ValueError, match=r"Expected a in b, got c\."):
        fail("b", "a", "c")
