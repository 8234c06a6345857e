"""Prints the results of a run as in docs/performance.md: python3 bench/runner/page.py build/bench/results.json"""

import json
import sys

import bars
import cases
import report


def compact(title, entries):
    """A case in one table; its last column is the ratio of "zklock" to each peer, by the metric of column one."""
    measured = [entry for entry in entries if "subject" in entry]
    columns = [column for column in report.columns_of(measured) if column[0] != "peak_memory_mib"]
    ratios = {entry["to"]: entry for entry in entries if entry.get("ratio_of") == "zklock" and entry["metric"] == columns[0][0]}
    rows = [["subject", *(heading for _, heading, _ in columns), "zklock is"]]
    for subject in dict.fromkeys(entry["subject"] for entry in measured):
        found = {entry["metric"]: entry for entry in measured if entry["subject"] == subject}
        cells = [f"{found[metric]['median']:.{digits}f}" if metric in found else "-" for metric, _, digits in columns]
        first, _, digits = columns[0]
        if first in found and digits == 0:
            cells[0] += f" ({found[first]['min']:.0f}-{found[first]['max']:.0f})"
        ratio = ratios.get(subject)
        rows.append([subject, *cells, f"{ratio['median']:.2f} ({ratio['min']:.2f}-{ratio['max']:.2f})" if ratio else ""])
    return f"### {title}\n\n{report.markdown(rows)}"


def main():
    with open(sys.argv[1]) as file:
        entries = json.load(file)
    titles = {case.name: case.title for case in cases.whole()}
    print("## The bars\n\n" + bars.judge(entries))
    print("## The cases\n")
    for name in dict.fromkeys(entry["case"] for entry in entries):
        print(compact(titles[name], [entry for entry in entries if entry["case"] == name]))


main()
