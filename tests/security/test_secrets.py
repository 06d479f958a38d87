"""Secrets in logs, paths and arguments are in no output; ordinary settings are."""

import csv
import io
import json
import pickle
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from harness_uq import read_logs
from harness_uq.commands.main import main
from harness_uq.messages.catalogue.result_store import RUN_NOT_STORED, STORE_UNUSABLE
from harness_uq.messages.redaction import DistinctNames, RedactedText, is_secret_name, redact, redact_value
from tests.adapters.inspect import logs as inspect
from tests.adapters.lm_eval import logs as lm_eval

_NAMES = (
    *("api_key", "API_KEY", "apiKey", "api-key", "APIKEY", "openai_api_key", "key", "aws_access_key_id"),
    *(
        "AWS_SECRET_ACCESS_KEY",
        "aws_session_token",
        "credentials",
        "private_key",
        "bearer",
        "passwd",
        "pwd",
        "password",
    ),
    *("PASSWORD", "pat", "dsn", "token", "hf_token", "token_value", "secret", "clientSecret", "authorization"),
    *("x-api-key", "cookie"),
)
_MARK = "ZQ7{:02}W"  # of a secret; case may differ


def _shapes() -> Iterator[tuple[str, object]]:
    yield "extra_headers", {"Authorization": "Bearer {mark}abcdef", "X-Title": "{mark}"}
    yield "headers", {"Authorization": "Basic {mark}"}
    yield "client", {"default_headers": [{"name": "Authorization", "value": "Bearer {mark}abcdef"}]}
    yield "note", "Bearer {mark}abcdef"
    for shape in (
        *(
            "sk-{mark}abcdefghijklmnop",
            "sk-proj-{mark}_abcdefgh",
            "sk-ant-api03-{mark}-abcdefgh",
            "hf_{mark}" + "a" * 30,
        ),
        *("ghp_{mark}" + "a" * 30, "github_pat_{mark}" + "a" * 30, "AKIA{mark}ABCDEFGHIJ", "xoxb-1234-{mark}abcd"),
        *(
            "AIza{mark}" + "a" * 30,
            "eyJhbGciOi.eyJ{mark}.abc_def",
            "-----BEGIN PRIVATE KEY-----\n{mark}\n-----END PRIVATE KEY-----",
        ),
    ):
        yield "note", shape
        yield "note", f"a list, with {shape}, in it"
    yield "place", "https://user:{mark}@host/v1"
    yield "place", "https://{mark}@host/v1"
    yield "place", "s3://AKIA:{mark}/with+slash@bucket/x"
    for name in ("X-Amz-Signature", "X-Amz-Credential", "X-Goog-Signature", "sig", "Signature", "token", "code"):
        yield "place", f"https://host/v1?a=1&{name}={{mark}}&b=2"


_NAMED = [*((name, "{mark}") for name in _NAMES), *_shapes()]
FORMS = [(f"{name}{i}" if name in ("note", "place") else name, value) for i, (name, value) in enumerate(_NAMED)]
MARKS = [_MARK.format(i) for i in range(len(FORMS))]
_IDS = [f"{i}-{name}" for i, (name, _) in enumerate(_NAMED)]
_PER_LOG = 5  # few enough for a name of 500 characters


def filled(value: object, mark: str) -> object:
    return json.loads(json.dumps(value).replace("{mark}", mark))


def settings_of_logs() -> Iterator[dict[str, object]]:
    """Settings with the forms of secrets, and with an ordinary setting at the end."""
    for start in range(0, len(FORMS), _PER_LOG):
        forms = zip(FORMS[start : start + _PER_LOG], MARKS[start : start + _PER_LOG], strict=True)
        yield {name: filled(value, mark) for (name, value), mark in forms} | {"ordinary": f"kept{start}."}


def lm_eval_log(path: Path, settings: dict[str, object], place: str = "model_args") -> str:
    folder = lm_eval.Folder(path)
    values = [1.0, 0.0, 1.0, 1.0] * 3
    config = {"model": "api", "model_args": {"model": "org/model"}, place: {"model": "org/model", **settings}}
    folder.samples("toy", lm_eval.rows("acc", values))
    folder.results({"toy": {"acc,none": 0.75}}, n=12, config=config, model_name="org/model")
    return str(path)


def lm_eval_generation_log(path: Path, settings: dict[str, object]) -> str:
    return lm_eval_log(path, settings, "gen_kwargs")


def inspect_log(path: Path, settings: dict[str, object], place: str = "model_args") -> str:
    path.mkdir(parents=True)
    head = inspect.header(scores=[inspect.score_totals("match", 0.75)], total=12, **{place: settings})
    return str(inspect.write_eval(path / "run.eval", head, inspect.grid([["C"], ["I"], ["C"], ["C"]] * 3)))


def inspect_task_log(path: Path, settings: dict[str, object]) -> str:
    return inspect_log(path, settings, "task_args")


def table(path: Path, settings: dict[str, object]) -> str:
    path.mkdir(parents=True)
    listed = ", ".join(f"{name}={value}" for name, value in settings.items())
    with (path / "runs.csv").open("w", newline="") as file:
        rows = [["toy", f"org/model ({listed})", i, int(i % 4 != 1)] for i in range(12)]
        csv.writer(file).writerows([["task", "model", "sample_id", "score"], *rows])
    return str(path)


Write = Callable[[Path, dict[str, object]], str]
READERS: dict[str, Write] = {
    "lm-eval model_args": lm_eval_log,
    "lm-eval gen_kwargs": lm_eval_generation_log,
    "inspect model_args": inspect_log,
    "inspect task_args": inspect_task_log,
    "table": table,
}
FORMATS = ("table", "json", "csv", "markdown", "latex", "html", "eee")


def run(*arguments: str) -> tuple[str, str]:
    """What a command prints on standard output and on standard error."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        main(list(arguments))
    return out.getvalue(), err.getvalue()


@pytest.fixture(scope="module", params=READERS)
def outputs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What commands print about one log for each form of a secret, in upper case, and the bytes of a store."""
    folder, write = tmp_path_factory.mktemp("logs"), READERS[request.param]
    paths = [write(folder / f"run{i}", settings) for i, settings in enumerate(settings_of_logs())]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "10000")
        texts = {name: "".join(run("estimate", *paths, "--format", name)) for name in FORMATS}
        texts["report"] = "".join(run("report", *paths, "--format", "html"))
        texts["effects"] = "".join(run("effects", *paths))
        texts["store"] = "".join(run("estimate", *paths, "--store", str(folder / "store")))
    for name in FORMATS:
        kept = texts[name].count("kept")
        assert kept >= len(paths) or request.param == "inspect task_args"  # which are not part of the name
    stored = b"".join(path.read_bytes() for path in (folder / "store").rglob("*.parquet"))
    return {**{name: text.upper() for name, text in texts.items()}, "files": stored.decode("latin-1").upper()}


def test_no_secret_of_a_log_is_in_an_output(outputs: dict[str, str]) -> None:
    found = [(form, name) for form, mark in zip(_IDS, MARKS, strict=True) for name in outputs if mark in outputs[name]]
    assert found == []


@pytest.mark.parametrize("write", READERS.values(), ids=READERS)
def test_task_logs_contain_no_secret(write: Write, tmp_path: Path) -> None:
    paths = [write(tmp_path / f"run{i}", settings) for i, settings in enumerate(settings_of_logs())]
    content = pickle.dumps(read_logs(paths)).decode("latin-1").upper()
    assert [form for form, mark in zip(_IDS, MARKS, strict=True) if mark in content] == []


@pytest.mark.parametrize(
    ("name", "jobs"),
    [
        *((name, "1") for name in READERS if name != "inspect task_args"),
        pytest.param("lm-eval model_args", "2", marks=pytest.mark.slow),
    ],
)
def test_systems_that_differ_only_in_secrets_stay_distinct(name: str, jobs: str, tmp_path: Path) -> None:
    paths = [
        READERS[name](tmp_path / str(i), {"bearer": secret, "temperature": 0.5})
        for i, secret in enumerate(("abc", "def", "abc"))
    ]
    document = json.loads(run("estimate", *paths, "--format", "json", "--jobs", jobs)[0])
    found = [re.search(r"bearer=(\**\d*)", row["system"])[1] for row in document["estimates"]]
    assert found == ["***", "***2", "***"]
    assert [log.system.count("***2") for log in read_logs(paths).logs] == [0, 1, 0]
    (ranking,) = json.loads(run("rank", *paths[:2], "--format", "json")[0])["rankings"]
    assert len({row["system"] for row in ranking["systems"]}) == 2


def test_a_run_with_a_secret_in_its_name_is_not_stored_and_others_are(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    paths = [
        inspect_log(tmp_path / str(i), setting) for i, setting in enumerate(({"bearer": "abc"}, {"api_key": "abc"}))
    ]
    store = str(tmp_path / "store")
    for _ in range(2):
        document = json.loads(run("estimate", *paths, "--store", store, "--format", "json")[0])
        assert [row["system"] for row in document["estimates"]] == ["mockllm/model (bearer=***)", "mockllm/model"]
        assert [error["code"] for error in document["errors"]] == [RUN_NOT_STORED.code]


@pytest.mark.parametrize(
    "name",
    [
        *("max_tokens", "tokenizer", "token_limit", "keyword", "monkey", "keyboard", "author", "revision", "n_tokens"),
        *(
            "num_key_value_heads",
            "eos_token_id",
            "think_end_token",
            "cluster_key",
            "passage_id",
            "max_gen_toks",
            "pass@1",
        ),
        *("pattern", "patience", "secretary", "temperature", "compass", "hotkeys", "cluster", "tokens_per_second"),
    ],
)
def test_ordinary_settings_are_kept(name: str) -> None:
    assert not is_secret_name(name)
    text = f"org/model ({name}=abc123, other=1)"
    assert redact(text) == text
    assert redact_value({name: "abc123"}) == {name: "abc123"}


@pytest.mark.parametrize(
    "text",
    [
        "revision=1f2e3d4c5b6a79881f2e3d4c5b6a79881f2e3d4c",
        "Qwen/Qwen3-8B (enable_thinking=False, quantized=True)",
        "sk-learn-classifier-benchmark, task-abcdefghijklmnopqrstuvwxyz0123456789",
        "http://localhost:11434/v1/org/model@main",
        "hf_transformers, desk-1234567890123456, risk-abc",
        "Unknown key: 'margn'. Available keys: a, b.",
        "The token: 5 of 10; use_auth_token=True, password=None, auth=false",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "https://host/runs?download=true&version=2",
        "max_tokens: 5, tokenizer: gpt2",
        "header.csv: the table holds no row; runs/tokens.jsonl: The file is empty",
        "KeyError: 'x' (a.py, line 5); AuthenticationError: refused",
    ],
)
def test_ordinary_texts_are_kept(text: str) -> None:
    assert redact(text) == text


def test_redacting_twice_changes_nothing() -> None:
    texts = [redact(f"{name}={filled(form, mark)}") for (name, form), mark in zip(FORMS, MARKS, strict=True)]
    assert [text for text, mark in zip(texts, MARKS, strict=True) if mark in text.upper()] == []
    texts += [text.replace("***", "***2") for text in texts]
    assert list(map(redact, texts)) == texts


@pytest.mark.parametrize(
    "unit", ["key=", "://a:x", "password=')", "{'key': ", "eyJ", "sk-a", "-----BEGIN A-----", "key=a,"]
)
def test_work_is_linear_in_the_length_of_a_text(unit: str) -> None:
    # takes a fraction of a second; quadratic work would take hours
    assert redact(unit * (200_000 // len(unit))) is not None


def test_redacted_names_are_distinguished_by_what_they_hide() -> None:
    first, second = RedactedText("m (key=***)", "m (key=a)"), RedactedText("m (key=***)", "m (key=b)")
    assert first == "m (key=***)"
    assert first != second
    assert pickle.loads(pickle.dumps(second)) == second
    assert "key=b" not in repr(second) + str(second) + json.dumps(second)
    name_of = DistinctNames()
    assert [name_of(name) for name in (first, second, first, "m", "m (key=***2)")] == [
        *("m (key=***)", "m (key=***2)", "m (key=***)", "m", "m (key=***22)"),
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ["estimate", "https://me:{mark}@127.0.0.1:9/a.eval?X-Amz-Signature={mark}"],
        ["estimate", "https://me:{mark}@127.0.0.1:9/a.eval?X-Amz-Signature={mark}", "--format", "json"],
        ["--debug", "estimate", "https://me:{mark}@127.0.0.1:9/a.eval?sig={mark}"],
        ["estimate", "LOG", "--store", "s3://KEY:{mark}@bucket"],
        ["estimate", "LOG", "--store", "nosuch://KEY:{mark}@bucket"],
        ["estimate", "LOG", "--task", "https://me:{mark}@host"],
        ["estimate", "LOG", "--level", "https://me:{mark}@host"],
        ["estimate", "LOG", "--api-key", "{mark}"],
        ["gate", "LOG", "--baseline", "https://me:{mark}@127.0.0.1:9/a.eval", "--margin", "0.1"],
        ["store", "info", "s3://KEY:{mark}@bucket"],
        ["rescore", "https://me:{mark}@127.0.0.1:9/a.eval", "--in-place"],
        ["watch", "https://me:{mark}@127.0.0.1:9/a.eval", "--once"],
    ],
)
def test_secrets_in_arguments_are_not_in_errors(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    log = table(tmp_path / "log", {"temperature": 0})
    given = [log if argument == "LOG" else argument.format(mark=MARKS[0]) for argument in arguments]
    output = "".join(run(*given))
    assert output
    assert MARKS[0] not in output


def test_the_command_line_on_a_page_contains_no_secret(tmp_path: Path) -> None:
    log = table(tmp_path / "log", {"temperature": 0})
    signed = f"http://127.0.0.1:9/a.eval?X-Amz-Signature={MARKS[0]}"
    page = tmp_path / "page.html"
    run("report", log, signed, f"new=https://me:{MARKS[0]}@127.0.0.1:9/b.eval", "--output", str(page))
    assert "harness-uq report" in page.read_text()
    assert MARKS[0] not in page.read_text()


def test_an_error_of_a_store_is_redacted() -> None:
    message = STORE_UNUSABLE(store="s3://KEY:word@bucket", action="used", reason="Bearer abcdefgh was refused")
    assert message.params == {"store": "s3://***@bucket", "action": "used", "reason": "Bearer *** was refused"}


def test_rescoring_prints_no_secret(tmp_path: Path) -> None:
    folder = tmp_path / f"https__user__{MARKS[0]}@host__m"  # as lm-eval calls the folder of a model at a URL
    log = inspect_log(folder, {"bearer": MARKS[1]})
    for arguments in (
        ["estimate", log, "--format", "json"],
        ["rescore", log, "--in-place"],
        ["rescore", log, "--output-dir", str(tmp_path / "out"), "--format", "eee"],
        ["restore", log],
    ):
        printed = "".join(run(*arguments))
        assert "run.eval" in printed or "eee" in arguments
        assert MARKS[0] not in printed
        assert MARKS[1] not in printed
    records = "".join(path.read_text() for path in (tmp_path / "out").rglob("*.json"))
    assert "bearer=***" in records
    assert MARKS[1] not in records
