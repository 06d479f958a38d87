"""S3 on the loopback: moto's server, which also writes down what it was asked and how many bytes it sent.

`python tests/s3_server.py PORT FILE`; a line of FILE is: method, path with query, status, bytes of the answer.
"""

import sys
from collections.abc import Callable, Iterable, Iterator

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, run_simple

Answer = Callable[..., object]


class Counted:
    """An application whose answers are counted."""

    def __init__(self, application: Callable[[dict, Answer], Iterable[bytes]], path: str) -> None:
        self._application, self._path = application, path

    def __call__(self, environ: dict, start_response: Answer) -> Iterator[bytes]:
        said: list[str] = []

        def start(status: str, *rest: object) -> object:
            said.append(status.split()[0])
            return start_response(status, *rest)

        parts = list(self._application(environ, start))
        asked = f"{environ['PATH_INFO']}?{environ['QUERY_STRING']}".rstrip("?").replace(" ", "%20")
        n = 0 if environ["REQUEST_METHOD"] == "HEAD" else sum(map(len, parts))
        with open(self._path, "a", encoding="utf-8") as log:  # noqa: PTH123
            log.write(f"{environ['REQUEST_METHOD']} {asked} {said[-1]} {n}\n")
        return iter(parts)


class Quiet(WSGIRequestHandler):
    """Says nothing."""

    protocol_version = "HTTP/1.1"

    def log(self, *args: object) -> None:
        pass


if __name__ == "__main__":
    application = Counted(DomainDispatcherApplication(create_backend_app), sys.argv[2])
    run_simple("127.0.0.1", int(sys.argv[1]), application, threaded=True, request_handler=Quiet)
