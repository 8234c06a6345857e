"""Statistics over the rounds: the list that is written as JSON, and the tables that are printed."""

import statistics

NOTHING = 0.01  # if a peer needs less than this, such as a heartbeat among thousands of re-entries, there is no ratio
COLUMNS = [("locks_per_s", "locks/s", 0), ("p50_us", "p50 us", 0), ("p99_us", "p99 us", 0),
           ("client_cpu_us", "client CPU us", 1), ("server_cpu_us", "server CPU us", 1), ("requests", "requests", 2),
           ("events", "events", 2),
           ("peak_memory_mib", "peak MiB", 0)]


def summary(values):
    lower, median, upper = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    return {"median": median, "min": min(values), "max": max(values), "lower_quartile": lower, "upper_quartile": upper}


def best_curator(rounds):
    """The best of Curator's arrangements, round by round; none without several of them."""
    arrangements = [name for name in rounds if name.startswith("curator")]
    if len(arrangements) < 2:
        return None
    best = []
    for parts in zip(*(rounds[name] for name in arrangements)):
        best.append(max(parts, key=lambda part: part.get("locks_per_s", 0)))
    return best


def results(case_name, rounds):
    """`rounds`: for each subject its metrics, round by round. Gives the entries of results.json."""
    entries = []
    for subject, parts in rounds.items():
        for metric in dict.fromkeys(metric for part in parts for metric in part):
            values = [part[metric] for part in parts if metric in part]
            entries.append({"case": case_name, "subject": subject, "metric": metric, **summary(values)})
    peers = {name: parts for name, parts in rounds.items() if not name.startswith("zklock")}
    if best := best_curator(rounds):
        peers["curator-best"] = best
    for ours in (name for name in rounds if name.startswith("zklock")):
        unkept = {name: rounds[name] for name in ("zklock", "zklock-lease") if "-kept" in ours and name in rounds}
        for peer, parts in {**peers, **unkept}.items():
            for metric in dict.fromkeys(metric for part in parts for metric in part):
                ratios = [mine[metric] / theirs[metric] for mine, theirs in zip(rounds[ours], parts)
                          if metric in mine and theirs.get(metric, 0) > NOTHING]
                if ratios:
                    entries.append({"case": case_name, "ratio_of": ours, "to": peer, "metric": metric, **summary(ratios)})
    return entries


def digits_of(metric):
    return 2 if metric in ("lag_of_read", "flights") else 1 if metric.endswith("_ms") else 0


def columns_of(entries):
    metrics = {entry["metric"] for entry in entries}
    known = [column for column in COLUMNS if column[0] in metrics]
    others = sorted(metrics - {column[0] for column in COLUMNS}, key=lambda metric: (not metric.endswith("_per_s"), metric))
    return [(metric, metric.replace("_per_s", "/s").replace("_", " "), digits_of(metric)) for metric in others] + known


def is_telling(ours, peer):
    """Whether the table has the ratio: of all to Curator and to their raw equivalents, of "zklock" to all peers, of what
    is kept to what is not, and of what is heard to what is not."""
    return (ours == "zklock" or peer.startswith(("curator", "zklock", "unobserved"))
            or peer == ours.replace("zklock", "raw"))


def table(title, entries):
    """Medians, the main one with its spread; then the ratios of zklock to each peer."""
    measured = [entry for entry in entries if "subject" in entry]
    ratios = [entry for entry in entries if "ratio_of" in entry]
    columns = columns_of(measured)
    rows = [["subject", *(heading for _, heading, _ in columns)]]
    for subject in dict.fromkeys(entry["subject"] for entry in measured):
        of_metric = {entry["metric"]: entry for entry in measured if entry["subject"] == subject}
        row = [subject]
        for metric, _, digits in columns:
            entry = of_metric.get(metric)
            text = "-" if entry is None else f"{entry['median']:.{digits}f}"
            if entry and metric.endswith("_per_s"):
                text += f" ({entry['min']:.0f}-{entry['max']:.0f})"
            row.append(text)
        rows.append(row)
    text = f"## {title}\n\n" + markdown(rows)
    pairs = [pair for pair in dict.fromkeys((entry["ratio_of"], entry["to"]) for entry in ratios) if is_telling(*pair)]
    if not pairs:
        return text
    columns = [column for column in columns if column[0] != "peak_memory_mib"]
    rows = [["ratio, round by round", *(heading for _, heading, _ in columns)]]
    for ours, peer in pairs:
        of_metric = {entry["metric"]: entry for entry in ratios if (entry["ratio_of"], entry["to"]) == (ours, peer)}
        row = [f"{ours} / {peer}"]
        for metric, _, _ in columns:
            entry = of_metric.get(metric)
            text_of = "-" if entry is None else f"{entry['median']:.2f}"
            if entry and metric.endswith("_per_s"):
                text_of += f" ({entry['min']:.2f}-{entry['max']:.2f})"
            row.append(text_of)
        rows.append(row)
    return text + "\n" + markdown(rows)


def markdown(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]

    def line(row):
        first, *others = (cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths)))
        return "| " + " | ".join([first, *others]) + " |\n"

    rule = "|" + "|".join("-" * (width + 1) + ("-" if i == 0 else ":") for i, width in enumerate(widths)) + "|\n"
    return line(rows[0]) + rule + "".join(line(row) for row in rows[1:])
