"""`python -m harness_uq` is `harness-uq`."""

from harness_uq.commands.main import main

raise SystemExit(main())
