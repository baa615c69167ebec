"""How a test script reports a measured figure for `tools/test --full`: one line of JSON."""

import json
import operator

BOUNDS = {"<": operator.lt, "<=": operator.le, "==": operator.eq, ">=": operator.ge}


def report(name, value, unit, bound):
    """Prints the figure. `bound` is such as "< 64", in the same unit; None for no bound."""
    ok = True
    if bound is not None:
        comparison, limit = bound.split()
        ok = BOUNDS[comparison](value, float(limit))
    print(json.dumps({"name": name, "value": value, "unit": unit, "bound": bound, "ok": ok}),
          flush=True)


def table(columns, rows):
    """Prints what a person reads."""
    print()
    for row in (columns, ["---"] * len(columns), *rows):
        print("| " + " | ".join(map(str, row)) + " |")
    print(flush=True)
