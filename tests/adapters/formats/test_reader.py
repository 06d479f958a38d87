import pytest

from harness_uq_formats.reader import FormatReader


def test_the_module_of_a_format_is_not_imported_for_files_of_other_suffixes():
    reader, files = FormatReader("missing", "harness_uq_formats.missing"), ["a.eval", "b.csv"]
    assert reader.parts(files) == [["a.eval"], ["b.csv"]]
    discovery = reader.find(files)
    assert (discovery.runs, discovery.unrecognised, discovery.problems) == ((), ("a.eval", "b.csv"), ())


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.parquet"])
def test_the_module_of_a_format_is_imported_for_files_that_it_may_read(name):
    with pytest.raises(ModuleNotFoundError):
        FormatReader("missing", "harness_uq_formats.missing").find(["a.eval", name])
