import logging

import pytest

from forensegm.config import Config
from forensegm.datasets import open_dataset
from forensegm.training.parts import LIMITS, build_parts, check_same_run, flat, items_digest
from forensegm.training.state import RunState


def test_parts_fit_each_other(make_config):
    parts = build_parts(make_config())
    assert (len(parts.train), len(parts.val), parts.model.classes, parts.resumed) == (8, 4, 3, None)


def test_every_problem_is_told_at_once(make_config):
    config = make_config(
        **{
            "model.name": "smp:unet/resnet81",
            "data.batch_size": 9,
            "optim.lr": -1.0,
            "optim.ema": 1.0,
            "loss.terms": {"cross_entropi": 1.0},
            "augment.distortions": ["jpg(50)"],
            "evaluate.pooling": "topk_maen",
            "train.metric": "pixel.binary.iou_edit",
            "train.precision": "fp8",
        }
    )
    with pytest.raises(ValueError, match="got 9 problems") as caught:
        build_parts(config)
    for word in (
        "resnet81",
        "batch_size to be at most the 8 images",
        "optim.lr to be above 0, got -1.0",
        "optim.ema",
        "cross_entropi",
        "jpg",
        "topk_mean",
        "pixel.binary.iou_edited",
        "fp8",
    ):
        assert word in str(caught.value)


@pytest.mark.parametrize("name", LIMITS)
def test_limits_name_options_and_allow_the_defaults(name):
    allowed, _ = LIMITS[name]
    assert allowed(flat(Config().to_dict())[name])
    assert not allowed(-1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data.source": ""}, r"Expected data\.source"),
        ({"data.source": "native:/nowhere"}, "/nowhere"),
        ({"data.train_split": "trian"}, "trian"),
    ],
)
def test_data_that_are_not_there(make_config, options, message):
    with pytest.raises(ValueError, match=message):
        build_parts(make_config(**options))


def test_a_photograph_in_both_splits_is_warned_about(make_config, caplog):
    with caplog.at_level(logging.WARNING):
        build_parts(make_config(**{"data.val_split": "train"}))
    assert "8 photographs are in 'train' as well as in 'train'" in caplog.text


def test_a_file_in_place_of_the_folder(make_config, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=r"Expected train\.out to be a folder"):
        build_parts(make_config(**{"train.out": str(tmp_path / "file")}))


def test_a_checkpoint_alone_is_neither_overwritten_nor_resumed(make_config, tmp_path):
    (tmp_path / "run" / "checkpoint").mkdir(parents=True)
    with pytest.raises(ValueError, match=r"Expected train\.out to be free.*train\.resume=true"):
        build_parts(make_config())
    with pytest.raises(ValueError, match="Expected a training state"):
        build_parts(make_config(**{"train.resume": True}))


def test_a_resumed_run_may_move_but_not_change(make_config):
    config = make_config()
    train = open_dataset(config.data.source, split="train")
    state = RunState(config=config.to_dict(), labels=["telea", "copy_move"], items=items_digest(train))
    free = {"train.out": "elsewhere", "data.workers": 3, "track.project": "p", "train.resume": True}
    check_same_run(state, make_config(**free), train)
    with pytest.raises(ValueError, match=r"optim\.lr was 0\.001, is 0\.01; train\.epochs was 2, is 3\."):
        check_same_run(state, make_config(**{"optim.lr": 0.01, "train.epochs": 3}), train)
    with pytest.raises(ValueError, match="the training images are others"):
        check_same_run(state, config, open_dataset(config.data.source, split="val"))
    state.labels = ["telea"]
    with pytest.raises(ValueError, match="the editors were telea, are telea, copy_move"):
        check_same_run(state, config, train)
