"""The seed of tests that draw: always the same, unless REPRISE_TEST_SEED is a number or "fresh"."""

import os
import secrets
import sys

_GIVEN = os.environ.get("REPRISE_TEST_SEED", "1")
TEST_SEED = secrets.randbits(31) if _GIVEN == "fresh" else int(_GIVEN)
print(f"REPRISE_TEST_SEED={TEST_SEED}", file=sys.stderr)
