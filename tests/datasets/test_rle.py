import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensegm.datasets.rle import rle_decode, rle_encode


@given(st.integers(1, 20), st.integers(1, 20), st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_run_lengths_come_back(height, width, seed, share):
    mask = np.random.default_rng(seed).random((height, width)) < share
    code = rle_encode(mask)
    assert code["size"] == [height, width]
    assert json.loads(json.dumps(code)) == code
    assert np.array_equal(rle_decode(code), mask)


def test_run_lengths_by_hand():
    # Column by column: one pixel off, two on, one off.
    assert rle_encode(np.array([[False, True], [True, False]])) == {"size": [2, 2], "counts": "121"}
    with pytest.raises(ValueError, match="shape HxW"):
        rle_encode(np.zeros((2, 2, 1), bool))


@pytest.mark.parametrize(
    "code",
    [
        {},
        {"size": [2, 2]},
        {"size": [2], "counts": "121"},
        {"size": [2, 2], "counts": ""},
        {"size": [2, 2], "counts": "12"},
        {"size": [2, 2], "counts": "1219"},
        {"size": [2, 2], "counts": "é"},
        {"size": [2, 2], "counts": [1, 2, 1]},
        {"size": [-2, 2], "counts": "121"},
        {"size": [10**6, 10**6], "counts": "121"},
        {"size": ["2", 2], "counts": "121"},
        {"size": [2, 2], "counts": "~~~~"},
    ],
)
def test_broken_run_lengths(code):
    with pytest.raises(ValueError, match="run-length code with size and counts") as error:
        rle_decode(code)
    assert "__array__" not in str(error.value)
