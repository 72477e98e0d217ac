import torch

from forensegm.datasets.batch import collate


def item(number, height, width):
    image = torch.full((3, height, width), number, dtype=torch.uint8)
    return {"image": image, "mask": torch.ones(height, width, dtype=torch.uint8), "id": f"i{number}", "index": number}


def test_padding_right_and_bottom():
    batch = collate([item(7, 2, 3), item(9, 4, 1)])
    assert batch["images"].shape == (2, 3, 4, 3)
    assert batch["images"].dtype == batch["masks"].dtype == torch.uint8
    assert batch["images"][0, 1].tolist() == [[7, 7, 7], [7, 7, 7], [0, 0, 0], [0, 0, 0]]
    assert batch["masks"][1].tolist() == [[1, 255, 255]] * 4
    assert batch["sizes_hw"] == [(2, 3), (4, 1)]
    assert (batch["ids"], batch["indices"], batch["errors"]) == (["i7", "i9"], [7, 9], [])


def test_equal_sizes_are_only_stacked():
    batch = collate([item(1, 2, 2), item(2, 2, 2)])
    assert torch.equal(batch["images"][1], item(2, 2, 2)["image"])
    assert batch["masks"].tolist() == [[[1, 1], [1, 1]]] * 2
    assert batch["images"].is_contiguous(memory_format=torch.channels_last)


def test_broken_items_are_listed():
    broken = {"id": "b", "index": 4, "error": "why"}
    batch = collate([broken, item(1, 2, 2)])
    assert batch["ids"] == ["i1"]
    assert batch["errors"] == [("b", "why")]
    nothing = collate([broken, broken])
    assert nothing["images"] is None
    assert nothing["masks"] is None
    assert (nothing["ids"], nothing["sizes_hw"], len(nothing["errors"])) == ([], [], 2)
