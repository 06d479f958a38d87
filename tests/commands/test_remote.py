"""Commands on stores: the same answers as from paths of this machine; what fails is named, and the rest goes on."""

import functools
import json
import os
import re
import shutil
import threading
import urllib.request
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from uuid import uuid4

import pytest

from harness_uq.commands.main import main
from harness_uq.inference.subset import read_probabilities
from harness_uq.io import paths as io_paths
from harness_uq.io.readers import read_logs
from tests.adapters.inspect.logs import grid, header, score_totals, write_eval, write_json
from tests.adapters.lm_eval.logs import Folder, rows

pytest.importorskip("fsspec")

RIGHT = {"a": "CCICICCCIC" * 3, "b": "CICICCIIIC" * 3}


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """Logs of two systems by each harness, and a table."""
    folder = tmp_path_factory.mktemp("logs")
    for system, scores in RIGHT.items():
        total = [score_totals("match", scores.count("C") / 30, n=30, stderr=0.09)]
        head = header(scores=total, total=30)
        head["eval"]["model"] = f"org/{system}"
        (folder / "inspect").mkdir(exist_ok=True)
        write_eval(folder / "inspect" / f"{system}.eval", head, grid([[one] for one in scores]))
        write_json(folder / "inspect" / f"{system}.json", head, grid([[one] for one in scores]))
        right = [float(one == "C") for one in scores]
        run = Folder(folder / "lm-eval" / system)
        run.samples("toy", rows("acc", right))
        run.results({"toy": {"acc,none": sum(right) / 30}}, n=30, model_name=f"org/{system}")
    (folder / "table.csv").write_text("".join(["question,score\n", *(f"{i},{i % 2}\n" for i in range(20))]))
    (folder / "notes.txt").write_text("a note")
    return str(folder)


@pytest.fixture(params=["memory", pytest.param("s3", marks=pytest.mark.slow)])
def store(request, local):
    """The same logs on a store."""
    url = f"memory://{uuid4().hex}" if request.param == "memory" else request.getfixturevalue("s3").url
    return upload(local, url)


def upload(folder, url):
    for file in io_paths.listing(folder):
        target = io_paths.join(url, *Path(file.url).relative_to(folder).parts)
        io_paths.write_bytes(target, io_paths.read_bytes(file.url))
    return url


def said(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    return (code, *capsys.readouterr())


@pytest.mark.parametrize(
    "command",
    [
        ["estimate", "{}"],
        ["estimate", "{}/inspect/*.eval", "{}/**/*.csv"],
        ["estimate", "{}/lm-eval/a/results_2026-01-02T03-04-05.000006.json"],
        ["estimate", "{}/lm-eval/a/samples_toy_2026-01-02T03-04-05.000006.jsonl"],
        ["structure", "{}"],
        ["compare", "new={}/inspect/a.eval", "old={}/inspect/b.json"],
        ["compare", "{}/lm-eval/a", "{}/lm-eval/b"],
        ["rank", "{}/lm-eval/*", "other={}/lm-eval/a"],
        ["plan", "{}/inspect/a.eval", "--width", "0.1"],
    ],
    ids=" ".join,
)
def test_a_store_gives_what_paths_give(store, local, capsys, command):
    form = [] if command[0] in ("plan", "rank") else ["--format", "json"]
    here = said(capsys, *(part.format(local) for part in command), *form)
    there = said(capsys, *(part.format(store) for part in command), *form)
    assert here[0] == 0
    assert (there[0], there[1].replace(store, local), there[2].replace(store, local)) == here


def test_a_page_reports_logs_of_a_store(store, local, capsys, tmp_path):
    pages = []
    for at, root in enumerate((local, store)):
        assert main(["report", root, "--output", str(tmp_path / f"{at}.html")]) == 0
        pages.append((tmp_path / f"{at}.html").read_text().replace(root, "ROOT"))
    assert pages[0].count("org/a") == pages[1].count("org/a") > 0


def test_a_page_is_written_to_a_store(store, local, capsys, tmp_path):
    place = f"{store}/pages/report.html"
    code, _, err = said(capsys, "report", local, "--output", place)
    assert (code, err.splitlines()[-1]) == (0, f"wrote {place}")
    assert main(["report", local, "--output", str(tmp_path / "report.html")]) == 0
    assert len(io_paths.read_bytes(place)) == pytest.approx((tmp_path / "report.html").stat().st_size, abs=200)


def test_labels_and_probabilities_are_read_from_a_store(store, local, capsys, tmp_path):
    labels = "".join(["id,score\n", *(f"{i},{i % 2}\n" for i in range(1, 9))])
    (tmp_path / "labels.csv").write_text(labels)
    io_paths.write_bytes(f"{store}/labels.csv", labels.encode())
    log = f"{local}/inspect/a.eval"
    here, there = (said(capsys, "estimate", log, "--labels", f"{root}/labels.csv") for root in (tmp_path, store))
    assert here[0] == 0
    assert there == here
    io_paths.write_bytes(f"{store}/drawn.json", b'{"toy": {"1": 0.5}}')
    assert read_probabilities(f"{store}/drawn.json") == {"toy": {"1": 0.5}}


def test_a_file_of_labels_that_a_store_has_not_is_named(store, local, capsys):
    code, out, err = said(capsys, "estimate", f"{local}/inspect/a.eval", "--labels", f"{store}/nowhere.csv")
    assert (code, out) == (1, "")
    assert f"{store}/nowhere.csv: The file cannot be read: " in err


def contents(folder):
    return {file.url.removeprefix(folder): io_paths.read_bytes(file.url) for file in io_paths.listing(folder)}


def without_times(content):
    return re.sub(rb'"timestamp": "[^"]*"', b"", content)


@pytest.mark.parametrize("source", ["local", "store"])
@pytest.mark.parametrize("target", ["local", "store"])
def test_copies_with_intervals_are_the_same_wherever_they_come_from_and_go(
    store, local, capsys, tmp_path, source, target
):
    expected = tmp_path / "expected"
    logs = [f"{local}/inspect", f"{local}/lm-eval"]
    assert main(["rescore", *logs, "--output-dir", str(expected)]) == 0
    output = str(tmp_path / "copies") if target == "local" else f"{store}-copies/x"
    if "s3://" in output:
        output = f"{store}/copies/x"
    named = logs if source == "local" else [log.replace(local, store) for log in logs]
    code, out, _ = said(capsys, "rescore", *named, "--output-dir", output)
    assert code == 0
    assert f"{output}/a.eval: 1 of 1 scores have an interval" in out
    written, wanted = contents(output), contents(str(expected))
    assert written.keys() == wanted.keys()
    root = named[0].removesuffix("/inspect").encode()
    texts = [name for name in wanted if not name.endswith(".eval")]  # in a zip times are compressed
    expected = [without_times(wanted[name]).replace(local.encode(), root) for name in texts]
    assert [without_times(written[name]) for name in texts] == expected
    code, _, err = said(capsys, "rescore", *named, "--output-dir", output)
    assert code == 1
    assert err.count("exists already") == 6


def test_nothing_is_written_in_place_on_a_store(store, capsys):
    before = contents(store)
    code, _, err = said(capsys, "rescore", f"{store}/inspect/a.eval", "--in-place")
    assert (code, "name a folder for copies" in err) == (1, True)
    assert contents(store) == before


def test_a_name_that_stands_for_nothing_fails_and_the_rest_goes_on(store, capsys):
    code, out, err = said(
        capsys, "estimate", f"{store}/nothing", f"{store}/*.eval", "gs://bucket/x", "foo://x", f"{store}/inspect/a.eval"
    )
    assert code == 1
    assert "org/a" in out
    assert f"error: {store}/nothing: The remote storage contains no object" in err
    assert f"error: {store}/*.eval: No file matches" in err
    assert "error: gs://bucket/x: gs:// needs gcsfs: pip install gcsfs" in err
    assert "error: foo://x: " in err


def test_a_log_that_goes_between_listing_and_reading_is_named_and_the_rest_goes_on(store):
    def gone(runs):
        io_paths.remove(f"{store}/inspect/a.eval")
        io_paths.remove(f"{store}/lm-eval/b/samples_toy_2026-01-02T03-04-05.000006.jsonl")
        return runs

    reading = read_logs(store, progress=gone)
    assert len(reading.logs) == 6 - 1
    warnings = dict(reading.warnings)
    assert {path: message.name for path, message in warnings.items()} == {
        f"{store}/inspect/a.eval": "file-unreadable",
        f"{store}/lm-eval/b/results_2026-01-02T03-04-05.000006.json": "file-unreadable",
    }
    assert {message.params["reason"] for message in warnings.values()} == {"no such object"}


def test_a_broken_log_on_a_store_is_named_and_the_rest_goes_on(store, capsys):
    io_paths.write_bytes(f"{store}/inspect/a.eval", io_paths.read_bytes(f"{store}/inspect/a.eval")[:-100])
    code, out, err = said(capsys, "estimate", f"{store}/inspect")
    assert (code, "org/b" in out) == (1, True)
    assert f"{store}/inspect/a.eval: the zip file is incomplete" in err


def test_signatures_of_urls_are_not_shown(capsys):
    code, _, err = said(capsys, "estimate", "https://me:word@127.0.0.1:9/run.eval?X-Amz-Signature=1f2e")
    assert code == 1
    assert "127.0.0.1:9/run.eval" in err
    assert not any(secret in err for secret in ("word", "1f2e"))


@contextmanager
def denied(resource, monkeypatch):
    """From here on the server knows one user, whom a policy denies to read some objects."""
    import boto3
    from s3fs import S3FileSystem

    iam, name = boto3.client("iam"), uuid4().hex
    iam.create_user(UserName=name)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    statements = [
        {"Effect": "Allow", "Action": "s3:*", "Resource": "*"},
        {"Effect": "Deny", "Action": "s3:GetObject", "Resource": resource},
    ]
    policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
    iam.put_user_policy(UserName=name, PolicyName="some", PolicyDocument=policy)
    with monkeypatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", key["AccessKeyId"])
        patch.setenv("AWS_SECRET_ACCESS_KEY", key["SecretAccessKey"])
        S3FileSystem.clear_instance_cache()
        unchecked_requests("0")
        try:
            yield
        finally:
            unchecked_requests("Infinity")
            S3FileSystem.clear_instance_cache()


def unchecked_requests(number):
    """How many requests moto's server answers before it checks who asks."""
    url = f"{os.environ['AWS_ENDPOINT_URL']}/moto-api/reset-auth"
    request = urllib.request.Request(url, number.encode(), {"Content-Type": "text/plain"})
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request).close()


@pytest.fixture
def web(local):
    """A web server that knows no ranges."""
    handler = functools.partial(Silent, directory=local)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


LM_EVAL = "lm-eval/a/samples_toy_2026-01-02T03-04-05.000006.jsonl"


class TestWeb:
    @pytest.mark.parametrize("name", ["inspect/a.eval", "inspect/a.json", LM_EVAL, "table.csv"])
    def test_a_file_of_a_web_server_gives_what_a_path_gives(self, web, local, tmp_path, capsys, name):
        # a web server cannot say what lies beside a file
        shutil.copy(f"{local}/{name}", tmp_path)
        here = said(capsys, "estimate", tmp_path / Path(name).name, "--format", "json")
        there = said(capsys, "estimate", f"{web}/{name}", "--format", "json")
        assert here[0] == 0
        rows = [json.loads(out)["estimates"] for _, out, _ in (here, there)]
        assert [row["value"] for row in rows[0]] == [row["value"] for row in rows[1]]
        assert [row["interval"] for row in rows[0]] == [row["interval"] for row in rows[1]]

    def test_what_is_not_there_or_not_running_is_named_and_nothing_is_written(self, web, capsys, local):
        code, out, err = said(
            capsys, "estimate", f"{web}/no.eval", "http://127.0.0.1:9/x.eval", f"{local}/inspect/a.eval"
        )
        assert (code, "org/a" in out) == (1, True)
        assert f"error: {web}/no.eval: The remote storage contains no object" in err
        assert "error: http://127.0.0.1:9/x.eval: The file cannot be read: its store failed: Cannot connect" in err
        code, _, err = said(capsys, "rescore", f"{local}/inspect/a.eval", "--output-dir", web)
        assert (code, "a web server is not written to" in err) == (1, True)


@pytest.mark.slow
class TestS3:
    def test_a_public_object_is_read_by_ranges_from_its_web_address(self, s3, local, capsys):
        import boto3

        bucket = s3.url.removeprefix("s3://")
        body = Path(local, "inspect", "a.eval").read_bytes()
        boto3.client("s3").put_object(Bucket=bucket, Key="a.eval", Body=body, ACL="public-read")
        s3.forget()
        code, out, _ = said(capsys, "estimate", f"{os.environ['AWS_ENDPOINT_URL']}/{bucket}/a.eval?x-amz-meta=1")
        assert (code, "org/a" in out) == (0, True)
        assert {status for method, _, status, _ in s3.asked() if method == "GET"} == {206}

    def test_each_file_is_fetched_once(self, s3, local, capsys):
        upload(local, s3.url)
        s3.forget()
        code, _, _ = said(capsys, "estimate", f"{s3.url}/inspect", f"{s3.url}/lm-eval", "--jobs", "1")
        fetched = [path for method, path, _, _ in s3.asked() if not path.partition("?")[2]]
        assert (code, len(fetched), len(set(fetched))) == (0, 8, 8)

    def test_a_bucket_that_is_not_there_is_named(self, s3, local, capsys):
        upload(local, s3.url)
        code, out, err = said(capsys, "estimate", "s3://no-such-bucket/x", f"{s3.url}/inspect/a.eval")
        assert (code, "org/a" in out) == (1, True)
        (line,) = [line for line in err.splitlines() if line.startswith("error: s3://no-such-bucket/x:")]
        assert "no such bucket" in line
        assert line.endswith("(UQ302)")
        code, _, err = said(capsys, "rescore", f"{s3.url}/inspect", "--output-dir", "s3://no-such-bucket/copies")
        assert code == 1
        assert err.count("no such bucket") == 4

    def test_what_a_policy_denies_is_named_and_the_rest_goes_on(self, s3, local, capsys, monkeypatch):
        upload(local, s3.url)
        bucket = s3.url.removeprefix("s3://")
        with denied(f"arn:aws:s3:::{bucket}/inspect/a*", monkeypatch):
            code, out, err = said(capsys, "estimate", s3.url)
        assert (code, "org/b" in out) == (1, True)
        (error,) = (line for line in err.splitlines() if "error" in line)
        assert error.removeprefix("error: ").startswith(f"{s3.url}/inspect: a.eval, a.json: ")
        assert "access denied" in error
        assert error.endswith("(UQ302)")
