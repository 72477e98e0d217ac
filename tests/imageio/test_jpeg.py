import io

import numpy as np
import pytest
from PIL import Image as PillowImage

from forensegm.imageio import encode_image, read_image_info
from forensegm.imageio.jpeg import LUMA_TABLE, TABLES, jpeg_quality

PICTURE = np.random.default_rng(0).integers(0, 256, (16, 24, 3), dtype=np.uint8)


@pytest.mark.parametrize("quality", [1, 10, 37, 49, 50, 51, 75, 90, 95, 99, 100])
def test_quality_is_read_back(quality):
    assert read_image_info(encode_image(PICTURE, f"jpeg:{quality}")).quality == quality


def test_tables_are_distinct_and_quality_50_is_the_standard_table():
    assert np.array_equal(TABLES[49], LUMA_TABLE)
    assert len({tuple(table) for table in TABLES.tolist()}) == 100


def test_tables_that_are_not_ijg_have_no_quality():
    buffer = io.BytesIO()
    PillowImage.fromarray(PICTURE).save(buffer, "JPEG", qtables=[[7] * 64, [9] * 64])
    assert read_image_info(buffer.getvalue()).quality is None
    assert jpeg_quality(object()) is None


def test_rounding_of_other_encoders_is_forgiven():
    table = TABLES[79].copy()
    table[::7] += 1
    assert jpeg_quality(type("Picture", (), {"quantization": {0: table.tolist()}})()) == 80


@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0"])
def test_subsampling_is_read_back(subsampling):
    assert read_image_info(encode_image(PICTURE, f"jpeg:80:{subsampling}")).subsampling == subsampling


def test_subsampling_of_grey_and_cmyk():
    for mode, expected in [("L", "4:0:0"), ("CMYK", None)]:
        buffer = io.BytesIO()
        PillowImage.fromarray(PICTURE).convert(mode).save(buffer, "JPEG")
        assert read_image_info(buffer.getvalue()).subsampling == expected
