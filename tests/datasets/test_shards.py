import contextlib
import io
import json
import tarfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import webdataset
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forensegm.datasets import open_dataset
from forensegm.datasets.convert import convert
from forensegm.datasets.convert.source import mask_png
from forensegm.datasets.sampler import EpochSampler
from forensegm.datasets.shards import expand, group_members
from forensegm.datasets.torch_dataset import TorchDataset, make_loader
from forensegm.imageio import encode_image
from forensegm.training.batches import RankSampler

IMAGE = encode_image(np.full((4, 5, 3), 60, np.uint8), "jpeg:90")
MASK = mask_png(np.eye(4, 5, dtype=np.uint8))


def write_tar(path, members, *, kind=tarfile.REGTYPE):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size, info.type = len(data), kind
            archive.addfile(info, io.BytesIO(data))
    return path


def samples(first, count):
    return [
        part for n in range(first, first + count) for part in ((f"{n:03d}.jpg", IMAGE), (f"{n:03d}.mask.png", MASK))
    ]


@pytest.fixture
def three(tmp_path):
    """Three shards of 4, 1 and 2 samples."""
    first = 0
    for number, count in enumerate((4, 1, 2)):
        write_tar(tmp_path / "set" / f"train-{number:06d}.tar", samples(first, count))
        first += count
    return tmp_path / "set"


def test_samples_without_records(three):
    dataset = open_dataset(f"shards:{three}", labels=1)
    assert dataset.ids[0] == "train-000000.tar/000"
    assert dataset.splits == ["train"] * 7
    assert np.array_equal(dataset[6].mask, np.eye(4, 5))
    assert dataset[0].meta["codec"]["codec"] == "JPEG"
    assert len(open_dataset(f"shards:{three}/train-{{000000..000001}}.tar", labels=1)) == 5
    assert len(open_dataset(f"shards:{three}/train-*2.tar", labels=1)) == 2


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_evaluation_sees_each_sample_once_with_fewer_shards_than_workers(three, workers):
    items = TorchDataset(open_dataset(f"shards:{three}/train-000000.tar", labels=1), on_error="raise")
    seen = [name for batch in make_loader(items, batch_size=2, workers=workers) for name in batch["ids"]]
    assert seen == items.dataset.ids


@pytest.mark.parametrize("world", [1, 2, 3])
def test_every_rank_takes_the_same_steps_and_what_is_left_out_is_counted(three, world):
    dataset = open_dataset(f"shards:{three}", labels=1)
    shares = [
        RankSampler(EpochSampler(len(dataset), seed=3), batch_size=2, rank=rank, world=world) for rank in range(world)
    ]
    taken = [[item for _, item in sampler] for sampler in shares]
    assert {len(items) for items in taken} == {len(shares[0])}
    together = [item for items in taken for item in items]
    assert len(set(together)) == len(together) == len(dataset) - shares[0].left_out


# webdataset leaves its files to the garbage collector.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.filterwarnings("ignore:Exception ignored in. <_io.FileIO:pytest.PytestUnraisableExceptionWarning")
def test_webdataset_reads_what_convert_writes(native, tmp_path):
    dataset = open_dataset(str(native))
    convert(dataset, tmp_path / "out", to="shards")
    shards = sorted((tmp_path / "out").glob("*.tar"))
    assert [path.name for path in shards] == ["train-000000.tar", "val-000000.tar"]
    read = list(webdataset.WebDataset([str(path) for path in shards], shardshuffle=False, empty_check=False))
    assert [one["__key__"] for one in read] == [f"{n:06d}" for n in range(6)]
    assert read[0]["png"] == (native / dataset.records[0].image).read_bytes()
    assert json.loads(read[0]["json"])["id"] == dataset.ids[0]


def test_what_webdataset_writes_is_read(tmp_path):
    with webdataset.TarWriter(str(tmp_path / "x.tar")) as writer:
        for number in range(3):
            writer.write(
                {"__key__": f"k{number}", "jpg": IMAGE, "mask.png": MASK, "json": {"group": "g", "split": "val"}}
            )
    dataset = open_dataset(f"shards:{tmp_path / 'x.tar'}", labels=1)
    assert (dataset.ids[2], dataset.groups[2], dataset.splits[2]) == ("x.tar/k2", "g", "val")
    assert dataset[2].mask.sum() == 4


@pytest.fixture
def served(three):
    handler = partial(SimpleHTTPRequestHandler, directory=str(three))
    handler.log_message = lambda *_: None
    SimpleHTTPRequestHandler.log_message = lambda *_: None
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_shards_by_url_are_fetched_once(served, three, tmp_path):
    source = f"shards:{served}/train-{{000000..000002}}.tar"
    dataset = open_dataset(source, labels=1, cache=tmp_path / "cache")
    assert len(dataset) == 7
    assert dataset[5].mask.sum() == 4
    (three / "train-000001.tar").unlink()
    assert open_dataset(source, labels=1, cache=tmp_path / "cache").ids == dataset.ids
    with pytest.raises(FileNotFoundError, match="404"):
        open_dataset(f"shards:{served}/gone-{{0..1}}.tar", labels=1, cache=tmp_path / "cache")
    assert len(list((tmp_path / "cache").iterdir())) == 3


def test_a_server_that_is_not_there(tmp_path):
    with pytest.raises(RuntimeError, match="Expected to fetch http://127"):
        open_dataset("shards:http://127.0.0.1:9/a.tar", labels=1, cache=tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([("a.jpg", IMAGE)], "no mask in 1: x.tar/a"),
        ([("a.mask.png", MASK)], "no image in 1: x.tar/a"),
        ([], "no samples"),
        ([("../a.jpg", IMAGE)], r"'\.\./a\.jpg' \(leads outside\)"),
        ([("/a.jpg", IMAGE)], "absolute"),
        ([("a.jpg", IMAGE), ("a.jpg", IMAGE)], "more than once"),
        ([("a.jpg", IMAGE), ("a.mask.png", MASK), ("a.json", b"[")], "JSON in '.*a.json'"),
        ([("a.jpg", IMAGE), ("a.mask.png", MASK), ("a.json", b"[]")], "got list"),
    ],
)
def test_bad_shards(tmp_path, members, message):
    path = write_tar(tmp_path / "x.tar", members)
    with pytest.raises(ValueError, match=message):
        open_dataset(f"shards:{path}", labels=1)


def test_samples_without_masks_may_be_declared_authentic(tmp_path):
    path = write_tar(tmp_path / "x.tar", [("a.jpg", IMAGE)])
    assert open_dataset(f"shards:{path}", labels=1, authentic=True)[0].label.fake is False


def test_links_and_packed_archives_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"'a\.jpg' \("):
        open_dataset(f"shards:{write_tar(tmp_path / 'l.tar', [('a.jpg', b'')], kind=tarfile.SYMTYPE)}", labels=1)
    with tarfile.open(tmp_path / "x.tar", "w:gz"):
        pass
    with pytest.raises(ValueError, match=r"plain tar .* compressed"):
        open_dataset(f"shards:{tmp_path / 'x.tar'}", labels=1)


@given(data=st.data())
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_cut_and_damaged_shards_give_clear_errors(three, data):
    whole = (three / "train-000000.tar").read_bytes()
    place = data.draw(st.integers(0, 8 * 1024))
    broken = (
        whole[:place] if data.draw(st.booleans()) else whole[:place] + bytes([whole[place] ^ 8]) + whole[place + 1 :]
    )
    path = three.parent / "broken.tar"
    path.write_bytes(broken)
    with contextlib.suppress(ValueError, FileNotFoundError):  # and nothing else
        dataset = open_dataset(f"shards:{path}", labels=1)
        for index in range(len(dataset)):
            dataset[index]


def test_names():
    assert expand("a{0..2}b{x,y}") == ["a0bx", "a0by", "a1bx", "a1by", "a2bx", "a2by"]
    assert expand("https://host/s-{08..10}.tar")[-1] == "https://host/s-10.tar"
    assert group_members(["s/a.b.png", "s/a.JPG", "s/.hidden", "t/a.jpg"]) == {
        "s/a": {"b.png": "s/a.b.png", "jpg": "s/a.JPG"},
        "t/a": {"jpg": "t/a.jpg"},
    }
    with pytest.raises(FileNotFoundError):
        expand("/no/such/*.tar")
