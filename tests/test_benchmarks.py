"""Every benchmark in datasets/ opens on a tiny tree of its layout, with the classes that its README promises."""

from pathlib import Path

import numpy as np
import pyarrow as arrow
import pyarrow.parquet
import pytest
import yaml

from forensegm.datasets import open_dataset
from forensegm.datasets.convert.source import mask_png
from forensegm.imageio import encode_image

HERE = Path(__file__).resolve().parents[1] / "datasets"
DECLARED = sorted(
    path.parent.name
    for path in HERE.glob("*/dataset.yaml")
    if yaml.safe_load(path.read_text()).get("reader") == "declared"
)
IMAGE, MASK = encode_image(np.full((8, 8, 3), 90, np.uint8), "png"), mask_png(np.eye(8, dtype=np.uint8) * 255)
INVERTED = mask_png(255 - np.eye(8, dtype=np.uint8) * 255)

# Of each set: files (those with an M are masks), and what they are: edited pixels, editor, split, group by image.
FILES = {
    "casia_v1": {
        "CASIA 1.0 dataset/Au/Au_ani_0001.jpg": (0, "", "", ""),
        "CASIA 1.0 dataset/Modified Tp/Tp/Sp/Sp_D_CND_A_1.jpg": (8, "splicing", "", ""),
        "CASIA 1.0 dataset/Modified Tp/Tp/CM/Sp_S_CND_A_2.jpg": (8, "copy_move", "", ""),
        "CASIA 1.0 dataset/Modified Tp/Tp/Sp/Sp_D_NRN_A_cha0011_sec0011_0542.jpg": None,
        "CASIA 1.0 groundtruth/Sp/Sp_D_CND_A_1_gt.png": MASK,
        "CASIA 1.0 groundtruth/CM/Sp_S_CND_A_2_gt.png": MASK,
    },
    "casia_v2": {
        "Au/Au_ani_00001.jpg": (0, "", "", ""),
        "Tp/Tp_D_CND_M_N_ani00018_sec00096_00138.tif": (8, "splicing", "", ""),
        "Tp/Tp_S_NRN_S_O_sec00036_sec00036_00764.jpg": (8, "copy_move", "", ""),
        "CASIA 2 Groundtruth/Tp_D_CND_M_N_ani00018_sec00096_00138_gt.png": MASK,
        "CASIA 2 Groundtruth/Tp_S_NRN_S_O_sec00036_sec00036_00764_gt.png": MASK,
    },
    "columbia": {
        "4cam_auth/canong3_02_sub_01.tif": (0, "", "", ""),
        "4cam_splc/canong3_canonxt_sub_01.tif": (8, "splicing", "", ""),
        "4cam_splc/edgemask/canong3_canonxt_sub_01_edgemask.jpg": None,
        "Gt/canong3_canonxt_sub_01_gt.png": MASK,
    },
    "coverage": {
        "image/1.tif": (0, "", "", "1"),
        "image/1t.tif": (8, "copy_move", "", "1"),
        "mask/1forged.tif": MASK,
        "mask/1copy.tif": MASK,
        "mask/1paste.tif": MASK,
    },
    "comofod": {
        "001_O.png": (0, "", "", "001"),
        "001_O_JC1.jpg": (0, "", "", "001"),
        "001_F.png": (8, "copy_move", "", "001"),
        "001_F_JC1.jpg": (8, "copy_move", "", "001"),
        "001_B.png": MASK,
        "001_M.png": None,
    },
    "imd2020": {
        "1a07yi/c8swtoq_orig.jpg": (0, "", "", "1a07yi"),
        "1a07yi/c8swtoq_0.jpg": (8, "manipulation", "", "1a07yi"),
        "1a07yi/c8swtoq_0_mask.png": MASK,
    },
    "cocoglide": {
        "CocoGlide/fake/glide_inpainting_val2017_49269_up.png": (8, "glide", "", "49269"),
        "CocoGlide/mask/glide_inpainting_val2017_49269_up.png": MASK,
        "CocoGlide/real/glide_inpainting_val2017_49269.png": (0, "", "", "49269"),
    },
    "autosplice": {
        "Authentic/10.jpg": (0, "", "", ""),
        "Forged_JPEG100/10_0.jpg": (8, "dalle2", "jpeg100", ""),
        "Forged_JPEG75/10_0.jpg": (8, "dalle2", "jpeg75", ""),
        "Mask/10_0_mask.png": MASK,
    },
    "magicbrush": {
        "dev/source/242679_1.png": (0, "", "dev", "242679"),
        "dev/target/242679_1.png": (8, "dalle2", "dev", "242679"),
        "dev/mask/242679_1.png": MASK,
    },
    "tgif": {
        "original/testing/1000_orig.png": (0, "", "test", "1000"),
        "original/testing/1000_orig_512.png": (0, "", "test", "1000"),
        "SD2-sp/testing/1000_mask_bbox.png_ps_mask.png_sd2_0.png": (8, "sd2", "test", "1000"),
        "SD2-sp/testing/1000_mask_bbox.png_ps_mask.png_sd2_1.png": (8, "sd2", "test", "1000"),
        "PS-sp/testing/1000_mask_bbox.png_ps_0.png": (8, "firefly", "test", "1000"),
        "SD2-fr/training/2000_mask_segm.png_sd2-512_0.png": (64, "sd2", "train", "2000"),
        "SDXL-fr/validation/3000_mask_segm.png_sdxl-1024_2.png": (64, "sdxl", "val", "3000"),
        "masks/testing/1000_mask_bbox.png": None,
        "masks/testing/1000_mask_bbox.png_ps_mask.png": MASK,
    },
}
TABLES = {
    "nist16": ("nist16.csv", INVERTED, "manipulation"),
    "br_gen": ("br_gen.csv", MASK, "regeneration"),
    "sagi_d": ("sagi_d.csv", MASK, "inpainting"),
}


def place(root, files):
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def test_none_is_forgotten():
    assert set(DECLARED) == {*FILES, *TABLES, "opensdid", "sid_set"}
    assert len(DECLARED) == 15


@pytest.mark.parametrize("name", FILES)
def test_a_layout_of_files(name, tmp_path):
    place(tmp_path, {path: what if isinstance(what, bytes) else IMAGE for path, what in FILES[name].items()})
    dataset = open_dataset(f"declared:{HERE / name}", root=tmp_path)
    expected = {path: what for path, what in FILES[name].items() if isinstance(what, tuple)}
    assert sorted(dataset.ids) == sorted(expected)
    for index, sample_id in enumerate(dataset.ids):
        pixels, editor, split, group = expected[sample_id]
        sample = dataset[index]
        assert int((sample.mask > 0).sum()) == pixels
        assert not editor or dataset.labels.name_of(int(sample.mask.max())) == editor
        assert dataset.splits[index] == split
        assert dataset.groups[index] == (group or sample_id)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_files(name, tmp_path):
    table, mask, editor = TABLES[name]
    place(
        tmp_path,
        {"a.png": IMAGE, "a_mask.png": mask, "b.png": IMAGE, table: b"image,mask\na.png,a_mask.png\nb.png,authentic\n"},
    )
    dataset = open_dataset(f"declared:{HERE / name}", root=tmp_path)
    assert [int((dataset[index].mask > 0).sum()) for index in (0, 1)] == [8, 0]
    assert dataset.labels.editors == (editor,)


@pytest.mark.parametrize(
    ("name", "file", "columns", "expected"),
    [
        (
            "opensdid",
            "sd15-00000-of-00001.parquet",
            {"key": ["a", "b"], "image": [IMAGE] * 2, "mask": [MASK, None], "label": [1, 0]},
            [8, 0],
        ),
        (
            "sid_set",
            "validation-00000-of-00001.parquet",
            {"img_id": ["a", "a", "b"], "image": [IMAGE] * 3, "mask": [None, None, MASK], "label": [0, 1, 2]},
            [0, 64, 8],
        ),
    ],
)
def test_a_set_in_parquet(name, file, columns, expected, tmp_path):
    (tmp_path / "data").mkdir()
    pyarrow.parquet.write_table(arrow.table(columns), tmp_path / "data" / file)
    dataset = open_dataset(f"declared:{HERE / name}", root=tmp_path, split=file.partition("-")[0])
    assert [int((dataset[index].mask > 0).sum()) for index in range(len(dataset))] == expected


@pytest.mark.parametrize("name", DECLARED)
def test_each_says_where_from_and_what_is_unchecked(name):
    values = yaml.safe_load((HERE / name / "dataset.yaml").read_text())
    assert values["checked"] is False
    assert values["unchecked"]
    assert values["source"].startswith("https://")
    text = (HERE / name / "README.md").read_text()
    for heading in (
        "**Where from.**",
        "**Published counts.**",
        "**Not checked on the real files.**",
        "**Split rule.**",
        "## Use",
    ):
        assert heading in text
    assert f"declared:{name}" in text
