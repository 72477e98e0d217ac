"""ZipStorage and extract_archive, also on archives that were made to do harm or are not whole (case 54)."""

import io
import json
import logging
import multiprocessing
import os
import pickle
import stat
import tarfile
import zipfile

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from forensegm.datasets.archive import ZipStorage, check_tar_members, extract_archive, open_storage
from forensegm.datasets.members import Member, check_members, name_problem
from forensegm.datasets.storage import FolderStorage

FILES = {"a/one.txt": b"one" * 400, "a/two.txt": b"", "b/ünï.bin": bytes(range(256)) * 5}


def write_zip(path, files=FILES, *, method=zipfile.ZIP_STORED, **changes):
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.mkdir("a")
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            for key, value in changes.items():
                setattr(info, key, value)
            archive.writestr(info, data)
    return path


def write_tar(path, files, mode="w", **changes):
    with tarfile.open(path, mode) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for key, value in changes.items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(data))
    return path


def read_all(storage):
    return {name: storage.read(name) for name in storage.names()}


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_reads_what_was_packed(tmp_path, method, caplog):
    storage = ZipStorage(write_zip(tmp_path / "x.zip", method=method))
    assert read_all(storage) == FILES
    assert storage.names() == sorted(FILES)
    assert storage.label("a/one.txt") == f"{tmp_path}/x.zip/a/one.txt"
    deflated = method == zipfile.ZIP_DEFLATED
    assert (storage.stored, storage.compressed_members) == (not deflated, 3 if deflated else 0)
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * deflated
    with pytest.raises(FileNotFoundError, match=r"'a/gone' in '.*x\.zip'"):
        storage.read("a/gone")


def test_large_archives_beyond_32_bits(tmp_path):
    path = tmp_path / "large.zip"
    with path.open("wb") as file:
        file.seek(5 << 30)  # sparse: nothing is written there
        with zipfile.ZipFile(file, "w") as archive:
            for name, data in FILES.items():
                with archive.open(name, "w", force_zip64=True) as member:
                    member.write(data)
    assert path.stat().st_size > 5 << 30
    assert read_all(ZipStorage(path)) == FILES


def _child(storage, numbers):
    return [storage.read(f"{number}.bin") == bytes([number % 256]) * 5000 for number in numbers]


def test_each_process_opens_its_own_file(tmp_path):
    files = {f"{number}.bin": bytes([number % 256]) * 5000 for number in range(300)}
    storage = ZipStorage(write_zip(tmp_path / "x.zip", files))
    storage.read("0.bin")
    context = multiprocessing.get_context("fork")
    with context.Pool(3) as pool:
        done = pool.starmap(_child, [(storage, range(start, 300, 6)) for start in range(6)])
    assert all(all(part) for part in done)
    parent = storage._file._descriptor
    reader, writer = os.pipe()
    if os.fork() == 0:  # the child inherits an open file
        storage.read("1.bin")
        os.write(writer, str(int(storage._file._descriptor != parent)).encode())
        os._exit(0)
    os.wait()
    assert os.read(reader, 1) == b"1"
    os.close(reader)
    os.close(writer)


def test_pickles_without_its_file_and_reopens(tmp_path):
    storage = ZipStorage(write_zip(tmp_path / "x.zip"))
    assert read_all(storage) == FILES
    copy = pickle.loads(pickle.dumps(storage))
    assert read_all(copy) == FILES
    storage.close()
    assert read_all(storage) == FILES
    (tmp_path / "x.zip").unlink()
    copy.close()
    with pytest.raises(FileNotFoundError, match="any more"):
        copy.read("a/one.txt")


def test_open_storage(tmp_path):
    archive = write_zip(tmp_path / "x.zip")
    assert isinstance(open_storage(archive), ZipStorage)
    assert isinstance(open_storage(archive.rename(tmp_path / "no_suffix")), ZipStorage)
    assert isinstance(open_storage(tmp_path), FolderStorage)
    (tmp_path / "x.txt").write_text("no archive")
    with pytest.raises(ValueError, match=r"folder or a \.zip"):
        open_storage(tmp_path / "x.txt")
    for name in ("gone", "gone.zip"):
        with pytest.raises(FileNotFoundError, match="gone"):
            open_storage(tmp_path / name)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"external_attr": (stat.S_IFLNK | 0o777) << 16}, "a link"),
        ({"external_attr": (stat.S_IFCHR | 0o600) << 16}, "no plain file"),
        ({"flag_bits": 0x1}, "encrypted"),
    ],
)
def test_refuses_members_that_are_no_plain_files(tmp_path, changes, problem):
    path = write_zip(tmp_path / "x.zip", **changes)
    if "flag_bits" in changes:  # zipfile clears it when it writes
        data = bytearray(path.read_bytes())
        at = data.rindex(b"PK\x01\x02")
        data[at + 8] |= 1
        path.write_bytes(bytes(data))
    for use in (ZipStorage, lambda path: extract_archive(path, tmp_path / "out")):
        with pytest.raises(ValueError, match=problem):
            use(path)
    assert not (tmp_path / "out").exists()


def test_refuses_other_compression(tmp_path):
    path = write_zip(tmp_path / "x.zip", method=zipfile.ZIP_BZIP2)
    with pytest.raises(ValueError, match="compression method 12"):
        ZipStorage(path)


def test_members_that_say_or_hold_too_much(tmp_path):
    path = write_zip(tmp_path / "x.zip", {"bomb": bytes(3_000_000)}, method=zipfile.ZIP_DEFLATED)
    with pytest.raises(ValueError, match=r"'bomb' \(3000000 bytes unpacked, over the limit of 1000\)"):
        ZipStorage(path, max_member_bytes=1000)
    with pytest.raises(ValueError, match="over the limit of 2999999"):
        extract_archive(path, tmp_path / "out", max_total_bytes=2_999_999)
    lying = bytearray(path.read_bytes())
    at = lying.rindex(b"PK\x01\x02")
    lying[at + 24 : at + 28] = (1000).to_bytes(4, "little")  # the unpacked size that the directory says
    path.write_bytes(bytes(lying))
    with pytest.raises(ValueError, match="do not end where they should"):
        ZipStorage(path, max_member_bytes=1000).read("bomb")
    with pytest.raises(ValueError, match="bomb"):
        extract_archive(path, tmp_path / "out")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["x.zip"]


def test_refuses_members_in_one_another(tmp_path):
    path = write_zip(tmp_path / "x.zip", {"one": b"1" * 50, "two": b"2" * 50})
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02")
    data[at + 42 : at + 46] = data[data.index(b"PK\x01\x02") + 46 + 2 :][42:46]  # the offset of "one"
    path.write_bytes(bytes(data))
    with pytest.raises(ValueError, match="a place of its own"):
        ZipStorage(path)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("../evil.txt", "leads outside"),
        ("a/../../evil", "leads outside"),
        ("..", "leads outside"),
        ("/abs.txt", "absolute"),
        ("C:/x", "absolute"),
        ("c:x", "absolute"),
        ("a\\b", "backslash"),
        ("a\0b", "NUL"),
        ("", "no name"),
        ("a/b..c/.d", ""),
        ("./a", ""),
        ("./", ""),
    ],
)
def test_names(name, problem):
    assert problem in name_problem(name)
    assert bool(problem) == bool(name_problem(name))


def test_clashing_names_are_listed_together():
    members = [
        *(Member(name, 1, False) for name in ("a/x", "./a//x", "b", "b/c", "é", "e\u0301", "A/x")),
        *(Member(name, 0, True) for name in ("a/", "e/")),
        Member("e", 1, False),
    ]
    with pytest.raises(ValueError, match="more than once") as caught:
        check_members(members, where="x.zip")
    for problem in ("'a/x' (more", "'é' (more", "'b' (both a file and a folder)", "'e' (both"):
        assert problem in str(caught.value)
    assert "A/x" not in str(caught.value)
    assert check_members(members[:1] + members[6:8], where="x") == ["a/x", "A/x"]
    with pytest.raises(ValueError, match="2 members, over the limit of 1"):
        check_members(members[2:4], where="x", max_members=1)
    many = [Member(f"../{number}", 0, False) for number in range(25)]
    with pytest.raises(ValueError, match="and 15 more"):
        check_members(many, where="x")


def test_case_54(shared, tmp_path):
    case = shared / "cases" / "54_zip_slip"
    expected = json.loads((case / "expected.json").read_text())
    inside = tmp_path / "deep" / "inside"
    for name in expected["refuse"]:
        with pytest.raises(ValueError, match=name):
            extract_archive(case / name, inside / "out")
        if name.endswith(".zip"):
            with pytest.raises(ValueError, match="of their own inside"):
                ZipStorage(case / name)
    assert list(tmp_path.rglob("*")) == []
    for name in expected["accept"]:
        assert extract_archive(case / name, inside / name) == ["images/a.txt"]
        assert (inside / name / "images" / "a.txt").is_file()
        assert ZipStorage(case / name).names() == ["images/a.txt"]
    written = [path for path in tmp_path.rglob("*") if path.is_file() and inside not in path.parents]
    assert len(written) == expected["written_outside"]


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_extract_tar(tmp_path, mode):
    path = write_tar(tmp_path / "x.tar", FILES, mode)
    calls = []
    names = extract_archive(path, tmp_path / "new" / "out", progress=lambda *call: calls.append(call))
    assert names == list(FILES)
    assert {name: (tmp_path / "new" / "out" / name).read_bytes() for name in names} == FILES
    assert [call[1:3] for call in calls] == [(1, 3), (2, 3), (3, 3)]
    assert os.listdir(tmp_path / "new") == ["out"]
    with pytest.raises(ValueError, match="new or an empty folder"):
        extract_archive(path, tmp_path / "new" / "out")
    with pytest.raises(FileNotFoundError, match="gone"):
        extract_archive(tmp_path / "gone.tar", tmp_path / "out")


def test_extract_zip_into_an_empty_folder(tmp_path):
    (tmp_path / "out").mkdir()
    names = extract_archive(write_zip(tmp_path / "x.zip", method=zipfile.ZIP_DEFLATED), tmp_path / "out")
    assert {name: (tmp_path / "out" / name).read_bytes() for name in names} == FILES


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_tar_links_and_devices(tmp_path, kind):
    path = write_tar(tmp_path / "x.tar", {"link": b""}, type=kind, linkname="/etc/passwd")
    with tarfile.open(path) as archive, pytest.raises(ValueError, match=r"a link|no plain file"):
        check_tar_members(archive, where=path)
    with pytest.raises(ValueError, match="'link'"):
        extract_archive(path, tmp_path / "out")
    assert os.listdir(tmp_path) == ["x.tar"]


def test_a_tar_with_a_broken_header_inside_is_not_cut_short(tmp_path):
    path = write_tar(tmp_path / "x.tar", FILES)
    data = bytearray(path.read_bytes())
    data[512 + 1536 + 10] ^= 0xFF  # in the header of the second member
    path.write_bytes(bytes(data))
    with pytest.raises(ValueError, match="broken header"):
        extract_archive(path, tmp_path / "out")
    path.write_bytes(path.read_bytes()[:700])
    with pytest.raises(ValueError, match=r"x\.tar"):
        extract_archive(path, tmp_path / "out")


def attempt(call, *args):
    """What the call returns, or what its ValueError says; any other error is a failure."""
    try:
        return call(*args), ""
    except ValueError as error:
        return None, str(error)


def _damage(data, cut, flips):
    damaged = bytearray(data[:cut])
    for at, bit in flips:
        damaged[at % len(damaged)] ^= 1 << bit
    return bytes(damaged)


FLIPS = st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 7)), max_size=3)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(1, 2500), flips=FLIPS, deflated=st.booleans())
@example(cut=5000, flips=[], deflated=True)
def test_damaged_zips_give_clear_errors_or_the_right_bytes(tmp_path, cut, flips, deflated):
    method = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
    path = write_zip(tmp_path / "x.zip", method=method)
    path.write_bytes(_damage(path.read_bytes(), cut if cut % 2 else None, flips))
    storage, error = attempt(ZipStorage, path)
    assert storage is not None or str(path) in error
    for name in storage.names() if storage else []:
        data, error = attempt(storage.read, name)
        assert data in FILES.values() or f"{path}/" in error


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(1, 9000), flips=FLIPS, kind=st.sampled_from(["zip", "w", "w:gz"]))
def test_damaged_archives_unpack_wholly_or_not_at_all(tmp_path_factory, cut, flips, kind):
    folder = tmp_path_factory.mktemp("damaged")
    path = write_zip(folder / "x.zip") if kind == "zip" else write_tar(folder / "x.tar", FILES, kind)
    path.write_bytes(_damage(path.read_bytes(), cut if cut % 2 else None, flips))
    names, error = attempt(extract_archive, path, folder / "out")
    assert names is not None or str(path) in error
    assert (folder / "out").is_dir() == (names is not None)
    assert len(os.listdir(folder)) == 1 + (names is not None)
