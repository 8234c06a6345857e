"""What docs/operations/ and the pages have, for the tests beside this file."""
import json
import pathlib
import re
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPERATIONS = "docs/operations"
VARIABLES = {"datasource": "prometheus", "job": "shop", "lock": "/locks/a", "__rate_interval": "5m"}


def read_rules(root):
    """The alert rules, as dictionaries."""
    groups = yaml.safe_load((root / OPERATIONS / "alerts.yml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def read_cases(root):
    """The file of `promtool test rules`."""
    return yaml.safe_load((root / OPERATIONS / "alerts_test.yml").read_text())


def read_dashboard(root):
    return json.loads((root / OPERATIONS / "grafana.json").read_text())


def queries(dashboard):
    """Each title with an expression of PromQL below it, those of variables included."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target.get("expr", "")
    for variable in dashboard["templating"]["list"]:
        match = re.fullmatch(r"label_values\((.*), *\w+\)", variable.get("definition", ""))
        if match:
            yield "$" + variable["name"], match.group(1)


def variables_in(expression):
    return re.findall(r"\$\{?(\w+)\}?", expression)


def fill(expression):
    """The expression with values in the places of Grafana's variables."""
    return re.sub(r"\$\{?(\w+)\}?", lambda match: VARIABLES[match.group(1)], expression)


def heading_anchor(heading):
    """As GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def self_test(files, check, breaks):
    """Checks copies of the files: as they are, and broken in each of several ways, each of which is to be reported as
    its key says."""
    for expected, (name, old, new) in [("", (None, "", "")), *breaks.items()]:
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for file in files:
                text = (ROOT / file).read_text()
                if file == name and old not in text:
                    sys.exit(f"{expected}: {file} has no {old!r} to break")
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                (root / file).write_text(text.replace(old, new, 1) if file == name else text)
            found = check(root)
        if (not any(expected in line for line in found)) if expected else found:
            sys.exit(f"{expected or 'nothing wrong'}: {found or 'not found'}")
        print(expected or "nothing wrong: nothing found")


def report(wrong, what):
    """Prints what is wrong, and gives the exit status."""
    print(*wrong, f"{what}, {len(wrong)} wrong", sep="\n")
    return 1 if wrong else 0


def main(files, check, breaks, what):
    """A test's main program: `--self-test`, or the root of the tree to check. `what` says what was checked."""
    if sys.argv[1:] == ["--self-test"]:
        return self_test(files, check, breaks)
    root = pathlib.Path(sys.argv[1])
    sys.exit(report(check(root), what(root)))
