#!/usr/bin/env python3
"""Checks that the words which docs/glossary.md has replaced do not come back: in code, comments, titles and pages.

Usage: words.py SOURCE_DIR    exit status 1, and a line for each word
       words.py --self-test   whether each of them is found
"""
import pathlib
import re
import sys

# Each begins with a letter, at the start of a word (PATTERN sees to that); with an example, and the word of the field.
BANNED = [
    (r"stand(s|ing)? in (the )?(line|queue of)\b|stood in (the )?line\b", "stands in line", "waits in the queue"),
    (r"join(s|ed|ing)? the line\b|join_line\b", "joins the line", "enqueue"),
    (r"(first|next|last|second) in line\b", "first in line", "first in the wait queue"),
    (r"waits? in line\b|in_line\b", "waits in line", "wait queue"),
    (r"PlaceInLine\b|place in line\b", "PlaceInLine", "QueueNode"),
    (r"[Ss]iblings?_?\b", "siblings", "local waiters, the local queue"),
    (r"[Hh]eirs?_?\b|\w+_heirs?_?\b", "heir", "successor"),
    (r"hand(s|ed|ing)?[ _-]over\b|hand-overs?\b", "hands over", "hands off; handoff"),
    (r"misled\b", "misled", "unproven"),
    (r"contend\b|Contention\b", "Contention", "QueuePosition; find_position"),
    (r"contention\.\w+|QueuePosition contention\b", "contention.verdict", "position"),
    (r"keeps_out\b|kept_out_by\b|is_last_obstacle\b", "keeps_out", "blocks; is_blocked_by; only_predecessor"),
    (r"WokenUp\b|Wakeup\b", "WokenUp", "Turn"),
    (r"Holding\b|ThreadHolds\b", "Holding", "HeldLock; ThreadLeases"),
    (r"[Pp]atience_?\b", "Patience", "WaitPolicy"),
    (r"lease_news\b|LeaseNews\b|Lookout\b", "LeaseNews", "LeaseEvent; LeaseMonitor"),
    (r"detail::Shelf\b|shelf_key\b|shelf\(\)", "shelf_key", "SharedState"),
    (r"Doubt\b|in doubt\b", "in doubt", "ambiguous outcome"),
    (r"clock_hand\b|ClockHand\b", "ClockHand", "ClockControl"),
    (r"[Pp]roofs? of life\b|ProofOfLife\b|proof_of_life\b", "proof of life", "session validity"),
    (r"see_off\b|let_go\b|poke\(", "see_off", "drain_until_eof; close_handle; wake"),
    (r"remove_for_sure\b", "remove_for_sure", "remove_guaranteed"),
    (r"Anchored\b|struct Relay\b", "Anchored", "Handler; CancellationBridge"),
    (r"most_[a-z]+\w*", "most_bytes", "max_bytes"),
    (r"find_\w*(flaw|fault)\w*", "find_path_flaw", "validate_path"),
    (r"PendingLines\b|SemaphoreLines\b|LineKind\b|read_lines\b", "PendingLines", "PendingQueues, QueueKind"),
    (r"vanish\w*", "vanished", "is deleted, is gone"),
    (r"see_who_\w+", "see_who_is_first", "note_first"),
    (r"[Ss]trangers?\b", "stranger", "foreign; another client"),
    (r"[Ww]ho ?ever\b", "whoever", "the client that"),
]
PATTERN = re.compile(r"\b(?:" + "|".join(f"(?P<w{i}>{pattern})" for i, (pattern, _, _) in enumerate(BANNED)) + ")")
KINDS = {".hpp", ".cpp", ".py", ".java", ".md", ".cmake", ".sh", ".txt", ".mjs", ".yml", ".html"}
FOLDERS = ["zklock", "recipes", "observe", "tools", "test", "integration", "bench", "examples", "fuzz", "cmake", "docs", "scripts"]


def find(text):
    """Each banned word in the text, with its line and what to say instead."""
    for number, line in enumerate(text.splitlines(), 1):
        for match in PATTERN.finditer(line):
            yield number, match.group(), BANNED[int(match.lastgroup[1:])][2]


def files(root):
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if (file.suffix in KINDS or folder == "scripts") and file.is_file() and "results" not in file.parts \
                    and file.resolve() != pathlib.Path(__file__).resolve() and not {"corpus", "node_modules"} & set(file.parts) \
                    and file.name != "changes.md":
                yield file
    yield root / "README.md"


def main():
    if sys.argv[1:] == ["--self-test"]:
        missed = [example for pattern, example, _ in BANNED if example not in [word for _, word, _ in find(f"a {example} b")]
                  and not any(True for _ in find(f"a {example}() b"))]
        sys.exit(f"not found: {missed}" if missed else 0)
    root, count, read = pathlib.Path(sys.argv[1]), 0, 0
    for file in files(root):
        read += 1
        for line, word, instead in find(file.read_text(errors="replace")):
            count += 1
            print(f"{file.relative_to(root)}:{line}: {word}: say {instead}")
    print(f"{read} files, {count} words that the glossary has replaced")
    sys.exit(1 if count or read < 300 else 0)


if __name__ == "__main__":
    main()
