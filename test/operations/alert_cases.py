#!/usr/bin/env python3
"""Checks what promtool does not: that each alert has a case in which it fires and one in which it does not, what a
person needs at night, and a runbook that exists.

Usage: alert_cases.py SOURCE_DIR    exit status 1, and a line for each thing that is missing
       alert_cases.py --self-test   whether each of them is found
"""
import re

import subjects

PAGE = "docs/operations.md"
FILES = [PAGE, "docs/operations/alerts.yml", "docs/operations/alerts_test.yml"]
RUNBOOK_PARTS = ["**Says**", "**Look**", "**Do**"]
METRIC = re.compile(r"\bzklock_\w+")


def runbooks(root):
    """The text below each heading of the third level, by the heading's anchor."""
    parts = re.split(r"^### (.*)$", (root / PAGE).read_text(), flags=re.MULTILINE)
    return {subjects.heading_anchor(heading): text for heading, text in zip(parts[1::2], parts[2::2])}


def check_rule(rule, books):
    name, annotations = rule["alert"], rule.get("annotations", {})
    if rule.get("labels", {}).get("severity") not in ("page", "warning"):
        yield f"{name}: no severity, page or warning"
    for key in ("summary", "description"):
        if not annotations.get(key):
            yield f"{name}: no {key}"
    page, _, anchor = annotations.get("runbook_url", "").partition("#")
    if page != PAGE or anchor not in books:
        yield f"{name}: its runbook_url names no heading of {PAGE}"
    elif anchor != name.lower():
        yield f"{name}: its runbook_url names that of another alert"
    else:
        yield from (f"{name}: its runbook has no {part}" for part in RUNBOOK_PARTS if part not in books[anchor])


def check_cases(rules, cases):
    """A silent case needs series that the rule reads: without them no rule ever fires."""
    reads = {rule["alert"]: set(METRIC.findall(rule["expr"])) for rule in rules}
    seen = {True: set(), False: set()}
    for group in cases["tests"]:
        series = {name for each in group["input_series"] for name in METRIC.findall(each["series"])}
        for case in group["alert_rule_test"]:
            name, fires = case["alertname"], bool(case["exp_alerts"])
            if name not in reads:
                yield f"a case for {name}, which is no alert"
            elif not group["name"].startswith(f"{name} {'fires' if fires else 'is silent'} "):
                yield f"{name}: the case is called {group['name']!r}"
            elif fires or series >= reads[name]:
                seen[fires].add(name)
    for name in reads:
        if name not in seen[True]:
            yield f"{name}: no case in which it fires"
        if name not in seen[False]:
            yield f"{name}: no case in which it is silent, with all the series that it reads"


def check(root):
    rules, books = subjects.read_rules(root), runbooks(root)
    cases = subjects.read_cases(root)
    wrong = [line for rule in rules for line in check_rule(rule, books)]
    wrong += check_cases(rules, cases)
    if cases["rule_files"] != ["alerts.yml"]:
        wrong.append("alerts_test.yml is not about alerts.yml")
    alerts = {rule["alert"].lower() for rule in rules}
    wrong += [f"{PAGE}: a runbook for {anchor}, which is no alert" for anchor in books if anchor not in alerts]
    return wrong


RULES, CASES = FILES[1:]
BREAKS = {  # each by what is to be said of it
    "ZklockLeaseLost: no severity": (RULES, "severity: page", "severity: loud"),
    "ZklockLeaseLost: no summary": (RULES, "summary:", "title:"),
    "ZklockLeaseLost: no description": (RULES, "description:", "text:"),
    "ZklockSlow: its runbook_url names no heading": (RULES, "operations.md#zklockslow", "operations.md#zklockslowly"),
    "ZklockSlow: its runbook_url names that of": (RULES, "operations.md#zklockslow", "operations.md#zklockorphans"),
    "ZklockFlapping: its runbook_url names no heading": (PAGE, "### ZklockFlapping\n", ""),
    "a runbook for zklockother": (PAGE, "### ZklockSlow\n", "### ZklockOther\n\n### ZklockSlow\n"),
    "ZklockLeaseLost: its runbook has no **Do**": (PAGE, "**Do**", "Do"),
    "ZklockSlower: no case in which it fires": (RULES, "- alert: ZklockSlow", "- alert: ZklockSlower"),
    "ZklockSuspect: no case in which it fires": (CASES, "alertname: ZklockSuspect\n", "alertname: ZklockSlow\n"),
    "ZklockFlapping: no case in which it is silent": (CASES, "{alertname: ZklockFlapping,", "{alertname: ZklockSlow,"),
    "ZklockSequenceEnd: no case in which it is silent, with": (
        CASES, 'zklock_queue_sequence_ratio{job="board",instance="board1",lock="/locks/a"}\n', "x\n"),
    "a case for ZklockFlaps": (CASES, "{alertname: ZklockFlapping", "{alertname: ZklockFlaps"),
    "ZklockSlow: the case is called": (CASES, "name: ZklockSlow fires", "name: ZklockFast fires"),
    "alerts_test.yml is not about alerts.yml": (CASES, "rule_files: [alerts.yml]", "rule_files: [others.yml]"),
}


if __name__ == "__main__":
    subjects.main(FILES, check, BREAKS, lambda root: f"{len(subjects.read_rules(root))} alerts")
