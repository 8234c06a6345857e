#!/usr/bin/env python3
"""Checks the two guides through the code of a lock, which name files and functions: the table of docs/contributing.md,
"From async_acquire to a Lease", and the steps of the local handoff in handoff.hpp. Each function is in its file. The
acquire goes through ten files at most, and returns at most four times to one that it has left.

Usage: walks.py SOURCE_DIR    exit status 1, and a line for each thing that is wrong
       walks.py --self-test   whether each of them is found
"""
import pathlib
import re
import sys

from self_test import expect_found

MAX_FILES = 10
MAX_RETURNS = 4
TITLE = "## From async_acquire to a Lease\n"
STEP = re.compile(r"^//   (\S.*?)  +\S.*  (\w+\.cpp)$", re.MULTILINE)


def has(text, name):
    return re.search(rf"\b{re.escape(name)}\(", text) is not None


def check_acquire(root):
    page = (root / "docs/contributing.md").read_text()
    section = page.partition(TITLE)[2].partition("\n## ")[0]
    stays = re.findall(r"^\| `([^`]+)` \| (.*) \|$", section, re.MULTILINE)
    files = {file for file, _ in stays}
    if not 3 <= len(files) <= MAX_FILES:
        yield f"{len(files)} files; the walk should have {MAX_FILES} at most"
    if len(stays) - len(files) > MAX_RETURNS:
        yield f"{len(stays) - len(files)} returns; the walk should have {MAX_RETURNS} at most"
    for file, text in stays:
        path = root / "recipes" / file
        if not path.is_file():
            yield f"{file} does not exist"
            continue
        for name in re.findall(r"`(\w+)`", text):
            if not has(path.read_text(), name):
                yield f"{file} does not have {name}"


def check_handoff(root):
    header = root / "recipes/src/wait_queue/handoff.hpp"
    steps = STEP.findall(header.read_text().partition("#pragma once")[0])
    if len(steps) < 3:
        yield f"{header.name} has {len(steps)} steps"
    for names, file in steps:
        found = list((root / "recipes/src").rglob(file))
        if not found:
            yield f"{header.name}: there is no {file}"
            continue
        text = found[0].read_text()
        for name in re.findall(r"[\w:*]+", names.replace("...", "")):
            start = name.endswith("*") and re.search(rf"\b{name[:-1]}\w+\(", text)
            if not start and not has(text, name):
                yield f"{header.name}: {file} does not have {name}"


def check(root):
    return [*check_acquire(root), *check_handoff(root)]


def self_test():
    table = "| `a.cpp` | `f` |\n| `b.cpp` | `g`, then `h` |\n| `c.cpp` | x |\n| `a.cpp` | `f`: again |\n"
    steps = ("//   A::f, g     does this        a.cpp\n//   h_*   and that   b.cpp\n//   f ...   the rest  a.cpp\n"
             "#pragma once\n")
    good = {
        "docs/contributing.md": f"# x\n\n{TITLE}\n| file | what |\n|---|---|\n{table}\n## y\n| `z.cpp` | no row |\n",
        "recipes/a.cpp": "void f(); void g();",
        "recipes/b.cpp": "void g(); void h();",
        "recipes/c.cpp": "",
        "recipes/src/a.cpp": "void A::f() {} void g();",
        "recipes/src/b.cpp": "void h_this();",
        "recipes/src/wait_queue/handoff.hpp": steps,
    }
    page = good["docs/contributing.md"]
    more = "".join(f"| `a{i}.cpp` | x |\n" for i in range(8))
    bad = {
        "a file that is gone": {"docs/contributing.md": page.replace("`b.cpp`", "`d.cpp`")},
        "a function that is gone": {"recipes/b.cpp": "void g();"},
        "many files": {"docs/contributing.md": page.replace(table, table + more),
                       **{f"recipes/a{i}.cpp": "" for i in range(8)}},
        "many returns": {"docs/contributing.md": page.replace(table, table + "| `b.cpp` | x |\n| `a.cpp` | x |\n" * 2)},
        "no table": {"docs/contributing.md": "# x\n"},
        "a step in a file that is gone": {"recipes/src/wait_queue/handoff.hpp": steps.replace("b.cpp", "d.cpp")},
        "a step that is gone": {"recipes/src/a.cpp": "void g();"},
        "steps of a name that is gone": {"recipes/src/b.cpp": "void i();"},
        "no steps": {"recipes/src/wait_queue/handoff.hpp": "#pragma once\n"},
    }
    expect_found(check, good, bad)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    wrong = check(pathlib.Path(sys.argv[1]))
    print(*wrong, f"{len(wrong)} wrong", sep="\n")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
