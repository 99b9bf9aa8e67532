#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Runs the experiments of sim_net and writes their plots and tables.

    python3 tests/sim/net/plots.py [build]

Writes doc/plots/*.svg, and in doc/measurements/congestion.md what is between the lines
"sim_net: begin" and "sim_net: end". The numbers are the same on each machine.
"""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from chart import Chart  # pylint: disable=wrong-import-position

TOP = pathlib.Path(__file__).resolve().parents[3]
PAGE = TOP / "doc" / "measurements" / "congestion.md"


def rows(build, name):
    """Yields (words, values) of each line; words have no '='."""
    out = subprocess.run([build / "bin" / "sim_net", name], text=True, check=True,
                         stdout=subprocess.PIPE).stdout
    for line in out.splitlines():
        parts = line.split()
        yield ([p for p in parts if "=" not in p],
               {k: float(v) for k, v in (p.split("=") for p in parts if "=" in p)})


def incast(build):
    got, counts = {}, []
    for words, v in rows(build, "incast"):
        got.setdefault(words[1], []).append(v)
    counts = [int(v["senders"]) for v in got["path"]]
    places = [i / (len(counts) - 1) for i in range(len(counts))]
    for key, title, y_title, top in (
            ("goodput", "Incast: goodput", "part of the line", 1),
            ("queue_kib", "Incast: longest queue", "KiB", 4096),
            ("loss", "Incast: loss", "part of the packets", 0.08),
            ("jain", "Incast: fairness", "Jain's index", 1)):
        chart = Chart(title, "senders", y_title, top)
        for x, count in zip(places, counts):
            chart.tick(x, count)
        for kind, values in got.items():
            chart.line(kind, list(zip(places, (v[key] for v in values))))
        chart.write("incast-" + key.split("_")[0])
    table = ["| senders | " + " | ".join(got) + " |", "|---" * (len(got) + 1) + "|"]
    for i, count in enumerate(counts):
        cells = [f"{v[i]['goodput']:.2f}, {v[i]['queue_kib']:.0f}"
                 f" ({v[i]['settled_kib']:.0f}), {100 * v[i]['loss']:.1f} %, {v[i]['jain']:.2f}"
                 for v in got.values()]
        table.append(f"| {count} | " + " | ".join(cells) + " |")
    return table


def dcqcn(build):
    series, come, unfair, victim, parking = [], [], {}, {}, {}
    for words, v in rows(build, "dcqcn"):
        kind = words[0] if words else ""
        if kind == "series" and v["flows"] == 4:
            series.append((v["t_ms"], [float(w) for w in words[1:]]))
        elif kind == "comego" and v["flows"] == 4:
            come.append(v)
        elif kind == "unfair":
            unfair[words[1]] = v
        elif kind == "victim":
            victim.setdefault(words[1], []).append(v["victim"])
        elif kind == "parking":
            parking[words[1]] = v
    chart = Chart("DCQCN: four flows come and go", "ms", "Gbit/s", 40)
    end = series[-1][0]
    for t in range(0, int(end) + 1, 40):
        chart.tick(t / end, t)
    for i in range(4):
        chart.line(f"flow {i + 1}", [(t / end, r[i]) for t, r in series], dots=False)
    chart.write("dcqcn-flows")
    chart = Chart("Four senders, one beside the receiver (H4)", "", "Gbit/s", 20)
    chart.bars(["H1", "H2", "H3", "H4"],
               [(k, [v[f"h{i}"] for i in range(1, 5)]) for k, v in unfair.items()])
    chart.write("dcqcn-unfair")
    chart = Chart("A victim of pauses", "senders elsewhere", "Gbit/s of the victim", 24)
    chart.bars(["0", "1", "2"], list(victim.items()))
    chart.write("dcqcn-victim")
    chart = Chart("Two bottlenecks: f2 has both", "", "Gbit/s", 40)
    chart.bars(["f1", "f2", "f3"],
               [(k, [v[f] for f in ("f1", "f2", "f3")]) for k, v in parking.items()])
    chart.write("dcqcn-parking")
    lines = ["| active of 4 | Jain's index, second half | below 0.95 until, ms | Gbit/s |",
             "|---|---|---|---|"]
    lines += [f"| {v['active']:.0f} | {v['jain']:.3f} | {v['settled_ms']:.0f} | "
              f"{v['sum_gbps']:.1f} |" for v in come]
    lines += ["", "| | PFC alone, Gbit/s | with DCQCN |", "|---|---|---|"]
    lines.append("| H1, H2, H3, and H4 beside the receiver | " + " | ".join(
        ", ".join(f"{v[f'h{i}']:.1f}" for i in range(1, 5)) + f" (Jain {v['jain']:.2f})"
        for v in unfair.values()) + " |")
    lines.append("| victim, with 0, 1, 2 senders elsewhere | " + " | ".join(
        ", ".join(f"{g:.1f}" for g in v) for v in victim.values()) + " |")
    lines += ["", "| marks | f1 | f2, through both | f3 |", "|---|---|---|---|"]
    lines += [f"| {k} | {v['f1']:.1f} | {v['f2']:.1f} | {v['f3']:.1f} |"
              for k, v in parking.items()]
    return lines


def pfc(build):
    pauses, dead = [], []
    for words, v in rows(build, "pfc"):
        if words[0] == "pause":
            name = "another" if v["other_priority"] else "the same"
            pauses.append((name, v))
        else:
            dead.append((words[1], v))
    chart = Chart("Who shares a line with paused ones", "priority", "part of its line", 1)
    chart.bars([name for name, _ in pauses],
               [(k, [v[k] for _, v in pauses]) for k in ("bystander", "others")])
    chart.write("pfc-bystander")
    lines = ["| priority of the bystander | bystander | the four together | "
             "pauses of spine, leaf, hosts | lost |", "|---|---|---|---|---|"]
    lines += [f"| {name} | {v['bystander']:.2f} | {v['others']:.2f} | {v['pauses_spine']:.0f}, "
              f"{v['pauses_leaf']:.0f}, {v['pauses_hosts']:.0f} | {v['dropped']:.0f} |"
              for name, v in pauses]
    lines += ["", "| | stands still for good | held, KiB | lost |", "|---|---|---|---|"]
    lines += [f"| {name} | {'yes' if v['stuck'] else 'no'} | {v['held_kib']:.0f} | "
              f"{v['dropped']:.0f} |" for name, v in dead]
    return lines


def ecmp(build):
    names, ways, lines = [], [], ["| | flows | goodput | use of the four ways | Jain's index |",
                                  "|---|---|---|---|---|"]
    for words, v in rows(build, "ecmp"):
        names.append(words[1])
        ways.append([float(w) for w in words[3:]])
        lines.append(f"| {words[1]} | {v['flows']:.0f} | {v['goodput']:.2f} | "
                     f"{', '.join(words[3:])} | {v['jain']:.2f} |")
    chart = Chart("ECMP: use of four equal ways", "", "part of the way", 1)
    chart.bars(names, [(f"way {i + 1}", [w[i] for w in ways]) for i in range(4)])
    chart.write("ecmp-ways")
    return lines


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else TOP / "build").resolve()
    page = PAGE.read_text()
    for name, table in (("incast", incast), ("dcqcn", dcqcn), ("pfc", pfc), ("ecmp", ecmp)):
        text = "\n".join(table(build))
        page, done = re.subn(rf"(<!-- sim_net {name}: begin -->\n).*?(<!-- sim_net {name}: end -->)",
                             lambda m, t=text: f"{m[1]}{t}\n{m[2]}", page, flags=re.S)
        assert done == 1, name
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
