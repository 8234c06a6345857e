#!/usr/bin/env python3
"""Checks docs/operations/grafana.json as far as this goes without Grafana: its rows and variables, that no panel lies
on another, and by promtool that each expression is one of PromQL.

Usage: grafana_file.py SOURCE_DIR    exit status 1, and a line for each thing that is wrong
       grafana_file.py --self-test   whether each of them is found
"""
import itertools
import json
import subprocess
import tempfile

import subjects

FILE = "docs/operations/grafana.json"
ROWS = ["Now", "RED by lock", "USE by lock", "Sessions and requests", "Process"]
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}


def check_variables(dashboard):
    names = [variable["name"] for variable in dashboard["templating"]["list"]]
    if names != ["datasource", "job", "lock"]:
        yield f"the variables are {names}"
    for title, expression in subjects.queries(dashboard):
        for name in subjects.variables_in(expression):
            if name not in subjects.VARIABLES:
                yield f"{title}: there is no variable {name}"


def check_panels(panels):
    titles = [panel["title"] for panel in panels if panel["type"] == "row"]
    if titles != ROWS:
        yield f"the rows are {titles}"
    if len({panel["id"] for panel in panels}) != len(panels):
        yield "two panels have one id"
    for panel in panels:
        targets = panel.get("targets", [])
        if panel["type"] != "row" and not (targets and all(target.get("expr") for target in targets)):
            yield f"{panel['title']}: nothing to show"
        if any(each.get("datasource") != DATASOURCE for each in [panel, *targets] if panel["type"] != "row"):
            yield f"{panel['title']}: not of the variable datasource"


def check_places(panels):
    for panel in panels:
        place = panel["gridPos"]
        if place["x"] + place["w"] > 24:
            yield f"{panel['title']}: wider than the page"
    for one, other in itertools.combinations(panels, 2):
        a, b = one["gridPos"], other["gridPos"]
        if all(a[at] < b[at] + b[size] and b[at] < a[at] + a[size] for at, size in (("x", "w"), ("y", "h"))):
            yield f"{one['title']}: lies on {other['title']}"


def check_expressions(dashboard):
    """As rules, which is what promtool reads."""
    rules = [{"record": f"panel:{number}", "expr": subjects.fill(expression)}
             for number, (_, expression) in enumerate(subjects.queries(dashboard))]
    if len(rules) < 40:
        return [f"only {len(rules)} expressions"]
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        json.dump({"groups": [{"name": "panels", "rules": rules}]}, file)  # JSON is YAML
        file.flush()
        run = subprocess.run(["promtool", "check", "rules", file.name], capture_output=True, text=True, check=False)
    return [] if run.returncode == 0 else (run.stdout + run.stderr).splitlines()[1:]


def check(root):
    try:
        dashboard = subjects.read_dashboard(root)
    except json.JSONDecodeError as error:
        return [f"{FILE}: {error}"]
    wrong = [*check_variables(dashboard), *check_panels(dashboard["panels"]), *check_places(dashboard["panels"])]
    return wrong or check_expressions(dashboard)


BREAKS = {  # each by what is to be said of it
    "Extra data": (FILE, "{", ""),
    "the rows are": (FILE, '"RED by lock"', '"RED"'),
    "the variables are": (FILE, '"name": "job"', '"name": "service"'),
    "there is no variable jobs": (FILE, 'sum(zklock_waiters{job=~\\"$job\\"', 'sum(zklock_waiters{job=~\\"$jobs\\"'),
    "two panels have one id": (FILE, '"id": 2,', '"id": 3,'),
    "Waiters: lies on Oldest waiter": (FILE, '"x": 4, "y": 1}', '"x": 3, "y": 1}'),
    "wider than the page": (FILE, '"x": 20, "y": 1}', '"x": 21, "y": 1}'),
    "Waiters: not of the variable datasource": (
        FILE, '"uid": "${datasource}"},\n          "expr"', '"uid": "mine"},\n          "expr"'),
    "Waiters: nothing to show": (FILE, '"expr": "sum(zklock_waiters', '"expression": "sum(zklock_waiters'),
    "parse error": (FILE, "sum(zklock_waiters", "sum((zklock_waiters"),
    "expected type range vector": (FILE, "[$__rate_interval]", ""),
    "unexpected": (FILE, 'label_values(zklock_build_info, job)",\n        "refresh"',
                   'label_values(zklock_build_info}, job)",\n        "refresh"'),
}


if __name__ == "__main__":
    subjects.main([FILE], check, BREAKS, lambda root: FILE)
