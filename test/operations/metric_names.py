#!/usr/bin/env python3
"""Checks that the metrics which the alert rules, the Grafana file and the pages name are those of a scrape, and the
other way round; and that the labels and their values by which alerts and panels select are there.

Usage: metric_names.py SOURCE_DIR SCRAPE...   exit status 1, and a line for each name that is only on one side
       metric_names.py --self-test            whether each kind of difference is found

SCRAPE is a file with what a service, or the dashboard, answers to GET /metrics, in Prometheus' text format. Together
the scrapes are to show all metrics: a lock that is held, one that is waited for, a pending delete, an audit log.
"""
import pathlib
import re
import sys
import tempfile

import subjects

TARGET_LABELS = {"job", "instance", "ensemble"}  # which Prometheus adds
SAMPLE = re.compile(r"(\w+)(?:\{(.*)\})? +\S+( +\d+)?")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
MATCHER = re.compile(r'(\w+) *(=~|!~|!=|=) *"((?:[^"\\]|\\.)*)"')
SELECTOR = re.compile(r"\b(zklock_\w+)(?:\{([^}]*)\})?")
NAME = re.compile(r"\bzklock_[a-z0-9_]*[a-z0-9]\b")


class Scrape:
    """The metrics of some scrapes, and the values of their labels."""

    def __init__(self, texts):
        self.labels = {}  # of each metric: the values of each label
        self.histograms = set()
        for line in "\n".join(texts).splitlines():
            if line.startswith("# TYPE ") and line.endswith(" histogram"):
                self.histograms.add(line.split()[2])
            elif line.strip() and not line.startswith("#"):
                self.add_sample(line)

    def add_sample(self, line):
        match = SAMPLE.fullmatch(line.strip())
        if not match:
            sys.exit(f"no line of Prometheus' text format: {line}")
        values = self.labels.setdefault(self.base(match.group(1)), {})
        for label, value in LABEL.findall(match.group(2) or ""):
            values.setdefault(label, set()).add(value)

    def base(self, name):
        """The metric that the name is of: of a histogram's buckets, sum and count the histogram."""
        base = re.sub(r"_(bucket|sum|count)$", "", name)
        return base if base in self.histograms else name


def names_of_the_build(root):
    """Which are no metrics: targets, functions and variables of CMake."""
    files = [*root.rglob("CMakeLists.txt"), *(root / "cmake").glob("*.cmake")]
    texts = [file.read_text() for file in files if "build" not in file.relative_to(root).parts]
    return {name for text in texts for name in NAME.findall(text)}


def pages(root):
    """The text of each page that may name metrics."""
    for file in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        if file.exists():
            yield str(file.relative_to(root)), file.read_text()


def expressions(root):
    for rule in subjects.read_rules(root):
        yield rule["alert"], rule["expr"]
    yield from subjects.queries(subjects.read_dashboard(root))


def check_selector(metric, matchers, scrape):
    """Each label and each value by which it selects is there, also those that it leaves out."""
    labels = scrape.labels[scrape.base(metric)]
    for label, operator, value in MATCHER.findall(matchers or ""):
        if label not in labels and label not in TARGET_LABELS:
            yield f"{metric} has no label {label}"
        elif "$" not in value and label not in TARGET_LABELS:
            wanted = value.split("|") if "~" in operator else [value]
            yield from (f'{metric} has no {label}="{each}"' for each in wanted if each not in labels[label])


def check(root, texts):
    scrape = Scrape(texts)
    wrong, named, build = [], set(), names_of_the_build(root)
    for where, text in pages(root):
        for name in sorted(set(NAME.findall(text)) - build):
            named.add(scrape.base(name))
            if scrape.base(name) not in scrape.labels:
                wrong.append(f"{where}: {name} is in no scrape")
    for where, expression in expressions(root):
        for metric, matchers in SELECTOR.findall(expression):
            named.add(scrape.base(metric))
            if scrape.base(metric) not in scrape.labels:
                wrong.append(f"{where}: {metric} is in no scrape")
            else:
                wrong += [f"{where}: {line}" for line in check_selector(metric, matchers, scrape)]
    ours = {name for name in scrape.labels if name.startswith("zklock_")}
    wrong += [f"{name}: no alert, panel or page names it" for name in sorted(ours - named)]
    return wrong


SCRAPE = """# HELP zklock_leases Leases of this process.
# TYPE zklock_leases gauge
zklock_leases{state="held"} 1
zklock_leases{state="suspect"} 0 1700000000000
# TYPE zklock_wait_seconds histogram
zklock_wait_seconds_bucket{lock="/a \\"b\\" {c}",le="1"} 3
zklock_wait_seconds_bucket{lock="/a \\"b\\" {c}",le="+Inf"} 3
zklock_wait_seconds_sum{lock="/a \\"b\\" {c}"} 0.5
zklock_wait_seconds_count{lock="/a \\"b\\" {c}"} 3
process_threads 4
"""
RULE = 'zklock_leases{state=~"held|suspect",job="x"} > 0'
PANEL = 'rate(zklock_wait_seconds_bucket{lock=~"$lock"}[5m])'
PAGE = "The target `zklock_part` makes no metric; `zklock_leases` does, as all that begin with `zklock_`."


def differences(rule=RULE, panel=PANEL, page=PAGE, scrape=SCRAPE):
    """What is found between a small scrape, one rule, one panel and one page."""
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        (root / subjects.OPERATIONS).mkdir(parents=True)
        (root / subjects.OPERATIONS / "alerts.yml").write_text(
            f"groups: [{{name: a, rules: [{{alert: A, expr: '{rule}'}}]}}]")
        panel = panel.replace('"', '\\"')
        (root / subjects.OPERATIONS / "grafana.json").write_text(
            f'{{"panels": [{{"title": "P", "targets": [{{"expr": "{panel}"}}]}}], "templating": {{"list": []}}}}')
        (root / "docs/metrics.md").write_text(page)
        (root / "CMakeLists.txt").write_text("zklock_part(x)")
        return check(root, [scrape])


def self_test():
    for title, (expected, found) in {
        "nothing wrong": ("", differences()),
        "a rule's metric": ("A: zklock_lease is in no scrape", differences(rule="zklock_lease > 0")),
        "a rule's label": ("A: zklock_leases has no label cause", differences(rule='zklock_leases{cause="held"}')),
        "a rule's value": ('A: zklock_leases has no state="lost"',
                           differences(rule='zklock_leases{state=~"held|lost"}')),
        "a value left out": ('A: zklock_leases has no state="lost"', differences(rule='zklock_leases{state!="lost"}')),
        "a panel's metric": ("P: zklock_wait is in no scrape", differences(panel="zklock_wait")),
        "a panel's label": ("P: zklock_wait_seconds_sum has no label path",
                            differences(panel='zklock_wait_seconds_sum{path=~"$lock"}')),
        "buckets of a gauge": ("P: zklock_leases_bucket is in no scrape", differences(panel="zklock_leases_bucket")),
        "a page's metric": ("docs/metrics.md: zklock_watches is in no scrape", differences(page="`zklock_watches`")),
        "a metric without a name": ("zklock_watches: no alert, panel or page names it",
                                    differences(scrape=SCRAPE + "zklock_watches 4")),
    }.items():
        if (expected not in found) if expected else found:
            sys.exit(f"{title}: {found or 'not found'}")
        print(f"{title}: {expected or 'nothing found'}")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root, scrapes = pathlib.Path(sys.argv[1]), sys.argv[2:]
    if not scrapes:
        sys.exit("name a file with a scrape")
    texts = [pathlib.Path(file).read_text() for file in scrapes]
    sys.exit(subjects.report(check(root, texts), f"{len(Scrape(texts).labels)} metrics"))


if __name__ == "__main__":
    main()
