import math

import pytest

from forensegm.lookup import lookup, require, unknown_name

TABLE = {"jpeg": 1, "resize": 2}


def test_a_name_in_the_table_is_found_and_a_part_is_itself():
    assert lookup(TABLE, "jpeg", what="distortion") == 1
    assert lookup(TABLE, 7, what="distortion") == 7


def test_a_near_miss_is_offered_and_otherwise_everything_is():
    with pytest.raises(ValueError, match=r"known distortion, got 'jepg'\. Did you mean jpeg\?"):
        lookup(TABLE, "jepg", what="distortion")
    assert str(unknown_name("qqq", TABLE, what="distortion")).endswith("Known: jpeg, resize.")


def test_only_the_users_own_word_imports():
    assert lookup(TABLE, "math:sqrt", what="distortion", trusted=True) is math.sqrt
    with pytest.raises(ValueError, match="never imported"):
        lookup(TABLE, "math:sqrt", what="distortion")


@pytest.mark.parametrize(
    ("path", "named"), [("no_such_module:f", "no_such_module"), ("math:no_such", "callable of math"), ("math:pi", "pi")]
)
def test_which_half_of_a_path_is_wrong_is_said(path, named):
    with pytest.raises(ValueError, match=named):
        lookup(TABLE, path, what="distortion", trusted=True)


def test_a_missing_library_names_the_extra_that_brings_it():
    assert require("math", extra="export") is math
    with pytest.raises(RuntimeError, match=r"pip install 'forensegm\[export\]'"):
        require("no_such_library", extra="export")
