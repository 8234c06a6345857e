#!/usr/bin/env python3
"""Runs the models of the protocols that are built: none violates its promise, and each mutant does.

Usage: check.py [--all]    --all: as far as they were run when they were written, a minute or two
"""
import sys

import counter
import ledger

BUILT = dict(mk_first=True, close_removes="always", cond=True, uuids=4, sweep="age", nonode="age")


def quick():
    fewer = dict(BUILT, maxlost=2)
    yield "ledger", ledger.model(**fewer), False
    yield "ledger: a repeat's failure is told without a void mark", ledger.model(seal_failures=False, **fewer), True
    yield "ledger: the void mark says done", ledger.model(void_marks=False, **fewer), True
    yield "ledger: swept at any age", ledger.model(**dict(fewer, sweep="any")), True
    yield "counter: read before each write", counter.model((False, False)), False
    yield "counter: version -1 is written to", counter.model((False, False), ops=3, start=-3), True
    yield "counter: version -1 is passed", counter.model((False, False), ops=4, start=-3, skip=True), False


def whole():
    yield "ledger, three lost replies", ledger.model(**BUILT), False
    yield "ledger, late copies of any age", ledger.model(late_bounded=False, **BUILT), False
    yield "ledger, three operations, four lost replies", ledger.model(**dict(BUILT, N=3, maxlost=4)), False


def main():
    wrong = 0
    rows = [*quick(), *(whole() if sys.argv[1:] == ["--all"] else [])]
    for name, (states, found, how), is_mutant in rows:
        good = how == "exhausted" and bool(found) == is_mutant
        wrong += not good
        print(f"{'' if good else 'WRONG: '}{name}: {states} states, {how}, violated: {', '.join(found) or 'nothing'}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
