"""Places: the same names for files of this machine and of stores, the same errors, whole objects or none."""

import os
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from harness_uq.io import paths as io_paths
from harness_uq.io.listing_cache import use_listing
from harness_uq.io.range_reader import END
from harness_uq.messages.errors import MissingDependencyError

CONTENT = os.urandom(3 * END)


@pytest.fixture(params=["local", "file", "memory", pytest.param("s3", marks=pytest.mark.slow)])
def folder(request, tmp_path):
    """A folder that holds `run.eval`, `sub/other.eval` and `sub/notes.txt`, of this machine or of a store."""
    if request.param in ("memory", "s3"):
        pytest.importorskip("fsspec")
    made = {
        "local": lambda: str(tmp_path),
        "file": lambda: f"file://{tmp_path}",
        "memory": lambda: f"memory://{uuid4().hex}",
        "s3": lambda: request.getfixturevalue("s3").url,
    }[request.param]()
    if not io_paths.is_remote(made):
        (tmp_path / "sub").mkdir()
    for name, content in (("run.eval", CONTENT), ("sub/other.eval", b"other"), ("sub/notes.txt", b"")):
        io_paths.write_bytes(io_paths.join(made, name), content)
    return made


def names_under(folder, files):
    urls, root = [file.url for file in files], io_paths.join(folder, "x")[:-1]
    assert all(url.startswith(root) for url in urls)
    return [url.removeprefix(root) for url in urls]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("", ["run.eval", "sub/notes.txt", "sub/other.eval"]),
        ("sub", ["sub/notes.txt", "sub/other.eval"]),
        ("run.eval", ["run.eval"]),
        ("*.eval", ["run.eval"]),
        ("**/*.eval", ["run.eval", "sub/other.eval"]),
        ("s*", ["sub/notes.txt", "sub/other.eval"]),
        ("nothing", []),
        ("nothing/*.eval", []),
    ],
)
def test_folders_files_and_patterns_stand_for_the_same_everywhere(folder, pattern, expected):
    path = io_paths.join(folder, pattern) if pattern else folder
    assert names_under(folder, io_paths.listing(path)) == expected


def test_a_fingerprint_listed_is_the_one_asked_for_and_changes_with_the_content(folder):
    place = io_paths.join(folder, "run.eval")
    (listed,) = io_paths.listing(place)
    assert listed == io_paths.fingerprint(listed.url)
    assert listed.size == io_paths.size(place) == len(CONTENT)
    io_paths.write_bytes(place, CONTENT[::-1])
    assert io_paths.fingerprint(listed.url) != listed


@pytest.mark.parametrize(
    ("start", "n"), [(0, 10), (5, END), (len(CONTENT) - 20, 20), (END + 7, 2 * END), (len(CONTENT), 5), (0, -1)]
)
def test_any_range_can_be_read(folder, start, n):
    with io_paths.open_binary(io_paths.join(folder, "run.eval")) as file:
        file.seek(start)
        assert file.read(n) == (CONTENT[start : start + n] if n >= 0 else CONTENT[start:])
        file.seek(-3, os.SEEK_END)
        assert file.read() == CONTENT[-3:]
    assert io_paths.read_bytes(io_paths.join(folder, "run.eval")) == CONTENT


def test_ranges_fetched_before_are_read_like_any_others(folder):
    wanted = [(10, 20), (END, END + 500), (20, 30), (2 * END, 2 * END + 7)]
    with io_paths.open_binary(io_paths.join(folder, "run.eval")) as file:
        io_paths.prefetch(file, wanted)
        for start, stop in [
            *wanted,
            (5, 15),
            (15, 25),
            (25, 90),
            (END + 400, END + 600),
            (len(CONTENT) - 4, len(CONTENT)),
        ]:
            file.seek(start)
            assert file.read(stop - start) == CONTENT[start:stop]


def test_what_is_not_there_is_an_error_with_words(folder):
    place = io_paths.join(folder, "gone.eval")
    assert not io_paths.is_file(place)
    for ask in (io_paths.open_binary, io_paths.read_bytes, io_paths.fingerprint):
        with pytest.raises(FileNotFoundError) as refused:
            ask(place)
        assert refused.value.strerror in ("no such object", "No such file or directory")
        assert "gone.eval" in str(refused.value)


def test_a_write_that_fails_leaves_what_was_there_and_nothing_beside_it(folder):
    place = io_paths.join(folder, "run.eval")
    before = [file.url for file in io_paths.listing(folder)]
    with pytest.raises(TypeError), io_paths.atomic_writer(place) as file:
        file.writelines([b"half", None])
    assert io_paths.read_bytes(place) == CONTENT
    assert [file.url for file in io_paths.listing(folder)] == before


def test_a_new_file_has_the_permissions_of_any_other_or_those_asked_for(tmp_path):
    (tmp_path / "other").write_bytes(b"")
    io_paths.write_bytes(str(tmp_path / "new"), b"")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode
    (tmp_path / "other").chmod(0o640)
    with io_paths.atomic_writer(str(tmp_path / "new"), like=str(tmp_path / "other"), keeps_time=True):
        pass
    stats = [(tmp_path / name).stat() for name in ("new", "other")]
    assert stats[0].st_mode == stats[1].st_mode
    assert stats[0].st_mtime_ns == stats[1].st_mtime_ns


def test_a_fifo_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "run.eval")
    assert [file.url for file in io_paths.listing(str(tmp_path))] == []
    with pytest.raises(OSError, match="no regular file"):
        io_paths.open_binary(str(tmp_path / "run.eval"))


def test_a_missing_package_is_named():
    pytest.importorskip("fsspec")
    program = """
import sys
from harness_uq.messages.errors import MissingDependencyError
from harness_uq.io import paths as io_paths
for module in ("gcsfs", "s3fs", "aiohttp", "huggingface_hub"):
    sys.modules[module] = None
for scheme in ("gs", "s3", "https", "hf"):
    try:
        list(io_paths.listing(f"{scheme}://bucket/x"))
    except MissingDependencyError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "gs:// needs gcsfs: pip install gcsfs",
        "s3:// needs s3fs: pip install 'harness-uq[remote]'",
        "https:// needs aiohttp: pip install 'harness-uq[remote]'",
        "hf:// needs huggingface_hub: pip install huggingface_hub",
    ]


def test_without_fsspec_the_extra_is_named(monkeypatch):
    for module in ("fsspec", "fsspec.core"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError, match=r"memory:// needs fsspec: pip install 'harness-uq\[remote\]'"):
        io_paths.read_bytes("memory://x")


def test_an_unknown_store_is_named():
    pytest.importorskip("fsspec")
    with pytest.raises(OSError, match="foo"):
        list(io_paths.listing("foo://bucket/x"))


def test_paths_of_this_machine_need_no_fsspec(tmp_path):
    program = f"""
import sys
from harness_uq.io import paths as io_paths
place = io_paths.join({str(tmp_path)!r}, "x")
io_paths.write_bytes(place, b"1")
assert [file.url for file in io_paths.listing({str(tmp_path)!r})] == [place] and io_paths.read_bytes(place) == b"1"
assert io_paths.size(place) == 1
assert not [name for name in sys.modules if name.startswith(("fsspec", "s3fs", "aiohttp"))]
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.slow
class TestS3:
    def test_a_bucket_that_is_not_there_is_named(self, s3):
        for place in ("s3://no-such-bucket/logs", "s3://no-such-bucket/*.eval"):
            with pytest.raises(FileNotFoundError, match="no such bucket"):
                list(io_paths.listing(place))

    def test_a_prefix_is_listed_in_one_call(self, s3):
        for i in range(5):
            io_paths.write_bytes(f"{s3.url}/logs/{i}/run.eval", b"x")
        s3.forget()
        assert len(list(io_paths.listing(f"{s3.url}/logs"))) == 5
        assert len(s3.asked()) == 1

    def test_the_end_of_an_object_is_one_request(self, s3):
        io_paths.write_bytes(f"{s3.url}/run.eval", CONTENT)
        s3.forget()
        with io_paths.open_binary(f"{s3.url}/run.eval") as file:
            for back in (22, 1000, END):
                file.seek(-back, os.SEEK_END)
                assert file.read(10) == CONTENT[-back:][:10]
        assert [(method, n) for method, _, _, n in s3.asked()] == [("HEAD", 0), ("GET", END)]

    def test_ranges_fetched_before_are_not_fetched_again_and_neighbours_are_one_request(self, s3):
        io_paths.write_bytes(f"{s3.url}/run.eval", CONTENT)
        with io_paths.open_binary(f"{s3.url}/run.eval") as file:
            s3.forget()
            io_paths.prefetch(file, [(50_000, 50_010), (0, 10), (10, 20)])
            for start in (0, 10, 50_000):
                file.seek(start)
                assert file.read(10) == CONTENT[start : start + 10]
        assert sorted(n for _, _, _, n in s3.asked()) == [10, 20]

    def test_a_file_that_was_listed_is_fetched_once_however_often_it_is_opened(self, s3):
        for name in ("a", "b"):
            io_paths.write_bytes(f"{s3.url}/{name}", name.encode() * 1000)
        listed = list(io_paths.listing(s3.url))
        s3.forget()
        with use_listing(listed):
            for _ in range(3):
                with io_paths.open_binary(f"{s3.url}/a") as file:
                    assert file.read(2) == b"aa"
                assert io_paths.read_bytes(f"{s3.url}/b") == b"b" * 1000
        assert [(method, n) for method, _, _, n in s3.asked()] == [("GET", 1000), ("GET", 1000)]

    def test_a_file_that_is_not_what_was_listed_is_refused(self, s3):
        place = f"{s3.url}/run.eval"
        io_paths.write_bytes(place, CONTENT)
        listed = list(io_paths.listing(place))
        io_paths.write_bytes(place, CONTENT[::-1])
        with use_listing(listed), io_paths.open_binary(place) as file, pytest.raises(OSError, match="changed while"):
            file.read(1)
        assert io_paths.read_bytes(place) == CONTENT[::-1]

    def test_an_object_that_changes_or_goes_while_it_is_read_is_refused(self, s3):
        boto3 = pytest.importorskip("boto3")
        place = f"{s3.url}/run.eval"
        io_paths.write_bytes(place, CONTENT)
        with io_paths.open_binary(place) as file:
            file.read(1)
            io_paths.write_bytes(place, CONTENT[::-1])
            with pytest.raises(OSError, match="changed while it was read"):
                file.read()
        with io_paths.open_binary(place) as file:
            file.read(1)
            boto3.client("s3").delete_object(Bucket=s3.url.removeprefix("s3://"), Key="run.eval")
            with pytest.raises(FileNotFoundError, match="no such object"):
                file.read()


def test_a_folder_is_listed_as_path_lists_it(tmp_path, monkeypatch):
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name in ("a/b/1.eval", "a/2.eval", "a.eval", ".hidden"):
        (tmp_path / name).write_text(name)
    (tmp_path / "a" / "gone").symlink_to("nowhere")
    (tmp_path / "a" / "linked.eval").symlink_to("2.eval")
    (tmp_path / "folder").symlink_to("a")
    os.mkfifo(tmp_path / "a" / "pipe")
    monkeypatch.chdir(tmp_path)
    for folder in (".", "a", "a/", "./a", str(tmp_path)):
        expected = sorted(str(file) for file in Path(folder).rglob("*") if file.is_file())
        assert [file.url for file in io_paths.listing(folder)] == expected
        assert list(io_paths.listing(folder)) == [io_paths.fingerprint(name) for name in expected]


@pytest.mark.parametrize(
    "path", ["a", "/a", "a/b", "./a/b", "a//b", "a/./b", "a/b/", "a/.", "a/..", ".", "", "/", "//a/b", "/a/../b", ".a"]
)
def test_folder_and_name_of_a_path_are_those_of_path(path):
    assert (io_paths.folder_of(path), io_paths.name_of(path)) == (str(Path(path).parent), Path(path).name)
