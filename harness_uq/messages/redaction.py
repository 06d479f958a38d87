"""Redaction of secrets in texts and settings: API keys, passwords, tokens, and credentials in URLs.

A secret is recognized by the name of its setting (`api_key`), by the shape of known tokens (`sk-…`, `AKIA…`) and by its
place in a URL (`https://user:password@host`, `?X-Amz-Signature=…`), never by its randomness, so that revisions and
hashes are kept. Each secret is replaced by `***`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final, Self
from urllib.parse import unquote

MASK: Final = "***"
_MAX_DEPTH: Final = 50

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET_WORD = re.compile(
    r"auth|authorization|bearer|cookies?|creds?|credentials?|dsn|headers?|jwt|passcode|passphrase|passwd|passwords?|pat"
    r"|pwd|secrets?"
)
# of a name without separators, such as `apikey`
_SECRET_PART = re.compile(
    r"(?:access|api|auth|private|secret)key|(?:access|api|auth|bearer|refresh|session)token|clientsecret"
    r"|connectionstring|passphrase|password|passwd"
)
_KEY, _TOKEN, _HEADER = re.compile(r"keys?"), re.compile(r"tokens?"), re.compile(r"headers?")
# words that make a key or a token an ordinary one, such as `primary_key` and `max_tokens`
_ORDINARY_KEY = re.compile(
    r"answer|attention|cache|choices?|cluster|column|dict|dim|doc|dropout|field|foreign|group|heads?|image|index|input"
    r"|join|label|layer|map|metadata|metric|norm|order|output|partition|per|primary|prompt|public|query|question|size"
    r"|sort|target|task|text|values?"
)
_ORDINARY_TOKEN = re.compile(
    r"add|at|bad|batch|begin|bos|budget|byte|chunk|class|cls|completions?|context|cost|counts?|end|eo[st]|expected|first"
    r"|forced|generated|ids|image|input|last|len|length|level|limit|logprobs?|mask|max|mean|min|n|new|next|num|number|of"
    r"|output|pad|per|pooling|position|probs?|prompt|rate|ratio|reasoning|sep|size|skip|special|start|stop|suppress|text"
    r"|think|thinking|total|type|unk|usage|vocab|window|word"
)
_WEAK = re.compile(r"auth|cookies?|headers?|keys?|pat|secrets?|tokens?")
_FILE_SUFFIX = re.compile(r"\.(?:csv|eval|gz|html|jsonl?|md|parquet|toml|tsv|txt|xml|ya?ml|zip)\Z")
_ENDS_OF_ERRORS = ("error", "exception", "warning")  # such as KeyError
# of a parameter in a URL, where a name that only resembles that of a secret is redacted as well
_SECRET_PARAMETER = re.compile(
    r"sig|auth|cred|token|secret|pass|key|hmac|jwt|policy|ticket|session|code|hdn", re.IGNORECASE
)

_START = r"(?<![A-Za-z0-9])"
_TOKEN_SHAPES = re.compile(
    "|".join(
        (
            # OpenAI, Anthropic, OpenRouter, Stripe and others
            rf"{_START}[spr]k[-_](?:proj|ant|or|svcacct|admin|lf|live|test)[-_][\w-]{{8,}}",
            rf"{_START}sk-(?:[A-Za-z0-9]{{20,}}|(?=[A-Za-z]*\d)[A-Za-z0-9]{{10,}})[\w-]*",
            rf"{_START}(?:hf|gsk|npm|r8|fw)_[A-Za-z0-9]{{20,}}",
            rf"{_START}api_org_[A-Za-z0-9]{{20,}}",
            rf"{_START}(?:xai|nvapi|pplx|glpat|dop_v1|tgp_v1|csk)[-_][\w-]{{16,}}",
            rf"{_START}gh[pousr]_[A-Za-z0-9]{{16,}}",
            rf"{_START}github_pat_\w{{16,}}",
            rf"{_START}(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{{12,}}",
            rf"{_START}xox[a-z](?:\.[a-z]+)?-[\w-]{{8,}}",
            rf"{_START}xapp-[\w-]{{8,}}",
            rf"{_START}AIza[\w-]{{20,}}",
            rf"{_START}ya29\.[\w-]{{16,}}",
            rf"{_START}eyJ[\w-]{{4,2000}}+(?:\.[\w-]+){{1,4}}",
            r"-----BEGIN [A-Z0-9 ]{1,40}-----[\s\S]*?(?:-----END [A-Z0-9 ]{1,40}-----|\Z)",
        )
    )
)
_BEARER = re.compile(r"\b(bearer)\s+[A-Za-z0-9._~+/=-]{6,}", re.IGNORECASE)
_USER_IN_URL = re.compile(
    r"""(?:(?<=://)|(?<=http__)|(?<=https__))(?!\*{3}\d*@)  # lm-eval names folders after models, with __ for :// and :
    (?: [^\s/"'<>]{1,500}@
        # a password with a slash, but no host and port before an @
      | (?![\w.-]{1,255}:\d{1,5}(?:[/?\#]|\Z))[^\s/@:"'<>]{0,255}:[^\s@"'<>]{1,500}@ )""",
    re.VERBOSE,
)
_NAME_AND_SIGN = re.compile(
    r"""(?<![\w.-])(?P<option>--)?(?P<quote>\\?["'])?(?P<name>[A-Za-z_](?:[\w.-]{0,79}\w)?)(?(quote)(?P=quote))
    (?P<sign>\s{0,2}(?:=[=>]?|:=?)\s{0,2}|(?(option)\s{1,2}|(?!)))""",
    re.VERBOSE,
)
_VALUE = re.compile(
    r"""\\(?P<escaped>["'])(?:(?!\\(?P=escaped)).)*(?:\\(?P=escaped)|\Z)
    | "(?:[^"\\]|\\.)*(?:"|\\?\Z) | '(?:[^'\\]|\\.)*(?:'|\\?\Z)
    | \{[^{}]*(?:\}|\Z) | \[[^\[\]]*(?:\]|\Z)
    | (?:(?:Bearer|Basic|Digest|Token)\s{1,2})?[^\s&"']+?
      (?=["'&]|\s|\Z|[)\]}]{1,4}(?:[,;.\s]|\Z)|[,;](?:\s|\Z|[\w.-]{1,80}=))""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_QUOTES = ('\\"', "\\'", '"', "'")
_NO_SECRET = re.compile(r"none|null|true|false|\*{3}\d*", re.IGNORECASE)


class RedactedText(str):
    """A text without its secrets that remembers the original, so that texts that differ only in secrets are unequal.

    Compared with an ordinary `str`, it equals its redacted text. It lives from the reading of a log until
    `DistinctNames` replaces it by an ordinary `str`.

    Attributes
    ----------
    original : str
        The text with its secrets; it is never shown.
    """

    __slots__ = ("original",)
    original: str

    def __new__(cls, text: str, original: str) -> Self:
        self = super().__new__(cls, text)
        self.original = original
        return self

    def __eq__(self, other: object) -> bool:
        return self.original == other.original if isinstance(other, RedactedText) else str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return str(self), self.original


class DistinctNames:
    """Ordinary names of redacted systems.

    Of systems that differ only in secrets, the second has `***2` where the first has `***`, the third `***3`.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def __call__(self, name: str) -> str:
        """The name to show for this name, the same whenever it is asked for."""
        if MASK not in name:
            return name
        original = name.original if isinstance(name, RedactedText) else name
        if original not in self._names:
            taken, n, candidate = set(self._names.values()), 1, str(name)
            while candidate in taken:
                n += 1
                candidate = name.replace(MASK, f"{MASK}{n}")
            self._names[original] = candidate
        return self._names[original]


def redact(text: str) -> str:
    """Replace each secret in a text by `***`.

    Examples
    --------
    >>> redact("s3://me:word@bucket/run.eval?X-Amz-Signature=1f2e&part=2")
    's3://***@bucket/run.eval?X-Amz-Signature=***&part=2'
    >>> redact("gpt (api_key=abc, max_tokens=5, revision=1f2e3d4c)")
    'gpt (api_key=***, max_tokens=5, revision=1f2e3d4c)'
    """
    if "://" in text or "http" in text:
        text = _USER_IN_URL.sub(f"{MASK}@", text)
    if "=" in text or ":" in text or "--" in text:
        text = _redact_assigned(text)
    text = _TOKEN_SHAPES.sub(MASK, text)
    return _BEARER.sub(rf"\1 {MASK}", text)


def redact_quoting(text: str, url: str) -> str:
    """Replace each secret in a text by `***`, and the secrets of a URL also where the text quotes only a part of it.

    >>> redact_quoting("no bucket 'me:word@bucket'", "s3://me:word@bucket/run.eval")
    "no bucket '***@bucket'"
    """
    user = _USER_IN_URL.search(url)
    login = user[0].removesuffix("@") if user else ""
    parameters = (part.partition("=") for part in re.split(r"[?&#]", url)[1:])
    signatures = (value for name, _, value in parameters if _SECRET_PARAMETER.search(name))
    for secret in (login, login.partition(":")[2], *signatures):
        for form in {secret, unquote(secret)}:
            if len(form) > 3:  # replacing a shorter text would garble the rest
                text = text.replace(form, MASK)
    return redact(text)


def redact_value(value: object, name: str = "", *, depth: int = 0) -> object:
    """Replace each secret in the value of a setting by `***`; objects and lists are copied.

    Examples
    --------
    >>> redact_value({"extra_headers": {"Authorization": "Bearer abc"}, "temperature": 0.5, "apiKey": "abc"})
    {'extra_headers': '***', 'temperature': 0.5, 'apiKey': '***'}
    """
    if value is None or isinstance(value, bool):
        return value
    if depth > _MAX_DEPTH or (is_secret_name(name) and _may_be_secret(name, value)):
        return MASK
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        label = next((value[key] for key in ("name", "key", "header") if isinstance(value.get(key), str)), "")
        return {
            key: redact_value(item, label if key == "value" and label else str(key), depth=depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        items = [redact_value(item, depth=depth + 1) for item in value]
        return items if isinstance(value, list) else tuple(items)
    return value


def is_secret_name(name: str) -> bool:
    """Whether a setting of this name holds a secret.

    >>> [is_secret_name(name) for name in ("apiKey", "AWS_SECRET_ACCESS_KEY", "key", "max_tokens", "keyword")]
    [True, True, True, False, False]
    """
    words = _WORD.findall(name)
    if words and words[-1].lower() in _ENDS_OF_ERRORS:
        return False
    if _any(_SECRET_WORD, words):
        return True
    if _any(_KEY, words) and not _any(_ORDINARY_KEY, words):
        return True
    if _any(_TOKEN, words) and not _any(_ORDINARY_TOKEN, words):
        return True
    return bool(_SECRET_PART.search(re.sub(r"[\W_]", "", name).lower()))


def _any(pattern: re.Pattern[str], words: Sequence[str]) -> bool:
    return any(pattern.fullmatch(word.lower()) for word in words)


def _may_be_secret(name: str, value: object) -> bool:
    """Whether the value of a secret setting is worth hiding: not empty, a switch, redacted or a number of tokens."""
    if isinstance(value, int | float) or (isinstance(value, str) and value.isdigit()):
        words = _WORD.findall(name)
        return not (_any(_TOKEN, words) or _any(_HEADER, words))
    if isinstance(value, str):
        return bool(value) and not _NO_SECRET.fullmatch(value)
    return bool(value)


def _redact_assigned(text: str) -> str:
    """Replace the values after secret names in a text, such as `api_key=abc` and `"api_key": "abc"`."""
    parts, end = [], 0
    for match in _NAME_AND_SIGN.finditer(text):
        if match.start() < end or not _is_secret_assignment(match):
            continue
        value = _VALUE.match(text, match.end())
        if value is None:
            continue
        quote = next((mark for mark in _QUOTES if value[0].startswith(mark)), "")
        if _may_be_secret(match["name"], value[0].removeprefix(quote).removesuffix(quote)):
            parts += [text[end : match.end()], quote, MASK, quote]
            end = value.end()
    return "".join((*parts, text[end:]))


def _is_secret_assignment(match: re.Match[str]) -> bool:
    name, text = match["name"], match.string
    if match.start() and text[match.start() - 1] in "?&#" and _SECRET_PARAMETER.search(name):
        return True
    if not is_secret_name(name):
        return False
    following = text[match.end() : match.end() + 2]
    if match["sign"].strip() != ":":
        return match["sign"].strip() != "" or not following.startswith("-")
    if following == "//":
        return False
    # a lone `key:`, `'token':` or `header.csv:` in a sentence is no setting, unless its value is quoted as in JSON
    is_json = bool(match["quote"]) and following[:1] in ('"', "'", "{", "[", "\\")
    words = _WORD.findall(_FILE_SUFFIX.sub("", name))
    return is_json or not all(_WEAK.fullmatch(word.lower()) for word in words)
