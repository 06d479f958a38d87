import pytest

from harness_uq import LogError
from harness_uq_inspect.read.archive import Archive
from tests.adapters.inspect.logs import DEFLATE, ZSTANDARD, grid, header, write_eval
from tests.message_checks import raises_message

NAME = "samples/1_epoch_1.json"


@pytest.fixture(params=[DEFLATE, ZSTANDARD, 0], ids=["deflate", "zstandard", "stored"])
def log(request, tmp_path):
    return write_eval(tmp_path / "log.eval", header(), grid([["C", "I"], ["I", "I"]]), compression=request.param)


def test_a_member_is_read_whatever_its_compression(log):
    with Archive(str(log)) as opened:
        assert b'"id": 1' in opened.read(NAME)


def test_members_are_listed_by_folder(log):
    with Archive(str(log)) as opened:
        assert opened.names("_journal/summaries/") == ["_journal/summaries/10.json", "_journal/summaries/9.json"]
        assert "header.json" in opened
        assert "headers.json" not in opened


def test_a_changed_byte_is_a_damaged_member(log):
    content = bytearray(log.read_bytes())
    with Archive(str(log)) as opened:
        info = opened._zip.getinfo(NAME)
        content[info.header_offset + 30 + len(NAME) + info.compress_size // 2] ^= 0xFF
    log.write_bytes(content)
    with Archive(str(log)) as opened, pytest.raises(LogError, match=f"{NAME} is damaged"):
        opened.read(NAME)


def test_a_truncated_zip_is_an_error(log):
    log.write_bytes(log.read_bytes()[:-100])
    with pytest.raises(LogError, match="the zip file is incomplete"):
        Archive(str(log))


def test_an_empty_file_is_an_error(tmp_path):
    (tmp_path / "log.eval").touch()
    with raises_message(LogError, "file-empty"):
        Archive(str(tmp_path / "log.eval"))


def test_a_text_file_named_eval_is_an_error(tmp_path):
    (tmp_path / "log.eval").write_text("not a zip at all, but long enough to look for a directory at its end")
    with pytest.raises(LogError, match=r"an \.eval file is a zip file, but this file is not"):
        Archive(str(tmp_path / "log.eval"))


def test_a_file_that_cannot_be_opened_is_an_error_with_the_reason(tmp_path):
    with pytest.raises(LogError, match="cannot be read"):
        Archive(str(tmp_path / "absent.eval"))


def test_a_compression_that_inspect_does_not_write_is_named(tmp_path):
    path = write_eval(tmp_path / "log.eval", header(), grid([["C"]]), compression=12)  # bzip2
    with Archive(str(path)) as opened, pytest.raises(LogError, match="zip method 12"):
        opened.read("header.json")
