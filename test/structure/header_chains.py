#!/usr/bin/env python3
"""Writes sources that include each public header as if it were alone, in few files.

A header that includes another one may stand behind it in one source: what the other one includes is there in any case.
So a chain of headers, each of which includes the one before it, is one source, and a missing include still fails it.

Usage: header_chains.py SOURCE_DIR OUTPUT_DIR    prints the files, a line each
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r"^#include <(zklock/[^>]+)>", re.MULTILINE)


def public_headers(root):
    """The text of each, by the name by which it is included."""
    headers = {}
    for folder in sorted(root.glob("**/include")):
        if "build" not in folder.relative_to(root).parts:
            for file in sorted(folder.rglob("*.hpp")):
                headers[file.relative_to(folder).as_posix()] = file.read_text()
    return headers


def chains_of(includes):
    """Few chains that hold all headers; `includes` has the headers that each one includes itself."""
    depth = {}

    def depth_of(name):
        if name not in depth:
            depth[name] = 1 + max((depth_of(each) for each in includes[name]), default=0)
        return depth[name]

    covered = set()
    for top in sorted(includes, key=lambda name: (-depth_of(name), name)):  # the longest way down begins at the top
        chain = []
        name = top
        while name and name not in covered:
            chain.append(name)
            covered.add(name)
            name = max(sorted(includes[name] - covered), key=depth_of, default=None)
        if chain:
            yield chain[::-1]


def main():
    root, output = map(pathlib.Path, sys.argv[1:3])
    texts = public_headers(root)
    includes = {name: set(INCLUDE.findall(text)) & set(texts) for name, text in texts.items()}
    output.mkdir(parents=True, exist_ok=True)
    for number, chain in enumerate(chains_of(includes)):
        file = output / f"chain_{number}.cpp"
        text = "".join(f"#include <{name}>\n" for name in chain)
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
        print(file)


main()
