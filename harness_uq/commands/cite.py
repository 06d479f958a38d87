"""`harness-uq cite`: print the BibTeX entries of the methods behind results, and a paragraph for a paper."""

import argparse

from harness_uq.commands import emit as _emit
from harness_uq.commands.page import Page, logs_argument
from harness_uq.options import Option

USAGE = "RESULTS [RESULTS ...] [options]"
EXAMPLES = (
    ("Print a methods paragraph and BibTeX entries for a result", "harness-uq cite results.json"),
    ("Cite the methods of estimates and of comparisons together", "harness-uq cite scores.json differences.json"),
    ("Write the BibTeX entries to a file", "harness-uq cite results.json --bib references.bib"),
)
DETAILS = """\
RESULTS are JSON documents that other commands write. For example, harness-uq
report LOG --output results.json writes such a document.
"""


_ARGUMENTS = (
    logs_argument("results", "RESULTS", help="File or URL of a JSON document that another command wrote"),
    Option(
        name="bib",
        group="Output",
        metavar="FILE",
        help="Write the BibTeX entries to FILE; print only the methods paragraph",
    ),
)


def run(args: argparse.Namespace) -> int:
    """Print the paragraph and the entries, or write the entries to a file."""
    from harness_uq.analyses.cite import cite
    from harness_uq.commands.console import print_error
    from harness_uq.messages.control_characters import escape_lines

    if args.bib is not None:
        _emit.try_place(args.bib)
    citation = cite(*args.results)
    print(escape_lines(citation.paragraph))
    if args.bib is None:
        print(escape_lines(f"\n{citation.bibtex}"))
    else:
        _emit.write_place(args.bib, f"{citation.bibtex}\n".encode())
        print_error(f"wrote {args.bib}")
    return 0


PAGES = {"cite": Page(usage=USAGE, examples=EXAMPLES, run=run, arguments=_ARGUMENTS, details=DETAILS)}
