"""`python -m harness_uq` is `harness-uq`."""

from harness_uq.cli import main

raise SystemExit(main())
