# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The dashboard of doc/examples/grafana, each of its expressions by a Prometheus that
gets both hosts' metrics as that folder's README says: node-exporter's infiniband
collector, and `uroce metrics` by its textfile collector."""
import json
import os
import re
import shutil
import urllib.parse

import pytest

import rules
from hosts import TOP, wait_for
from pairs import start_pair
from test_faults import wait_traffic

FOLDER = f"{TOP}/doc/examples/grafana"
# What Grafana puts in: at a scrape a second, and all hosts.
GIVEN = {"$instance": ".*", "$device": ".*", "$__rate_interval": "4s"}
CONFIG = """global: {{scrape_interval: 1s}}
scrape_configs:
- job_name: node
  static_configs: [{{targets: ["{}:9101", "{}:9101"]}}]
"""
# Prints what Prometheus answers to each of its words.
CLIENT = """
import json, sys, urllib.error, urllib.parse, urllib.request
answers = []
for text in sys.argv[1:]:
    url = "http://127.0.0.1:9090/api/v1/query?" + urllib.parse.urlencode({"query": text})
    try:
        found = json.load(urllib.request.urlopen(url))["data"]["result"]
        answers.append([float(one["value"][1]) for one in found])
    except urllib.error.HTTPError as e:
        answers.append(e.read().decode())
print(json.dumps(answers))
"""


def dashboard():
    with open(f"{FOLDER}/uroce.json") as f:
        return json.load(f)


def expressions():
    """[(panel's title, expression as Prometheus gets it)]"""
    found = []
    for panel in dashboard()["panels"]:
        for target in panel["targets"]:
            text = target["expr"]
            for name, value in GIVEN.items():
                text = text.replace(name, value)
            assert "$" not in text, text
            found.append((panel["title"], text))
    return found


def test_form():
    """As Grafana reads it: ids of their own, no panel upon another, one source of data."""
    d = dashboard()
    cells = set()
    assert d["schemaVersion"] >= 36 and d["uid"] == "uroce"
    assert [v["name"] for v in d["templating"]["list"]] == ["datasource", "instance", "device"]
    assert len({p["id"] for p in d["panels"]}) == len(d["panels"])
    for p in d["panels"]:
        g = p["gridPos"]
        assert g["x"] + g["w"] <= 24
        mine = {(x, y) for x in range(g["x"], g["x"] + g["w"])
                for y in range(g["y"], g["y"] + g["h"])}
        assert not mine & cells, p["title"]
        cells |= mine
        assert p["type"] in ("stat", "timeseries") and p["title"] and p["description"]
        assert len({t["refId"] for t in p["targets"]}) == len(p["targets"])
        assert all(t["datasource"] == p["datasource"] for t in p["targets"])
    assert len(cells) == 24 * (1 + max(y for _, y in cells))


@pytest.fixture
def ask(lab):
    """ask(EXPRESSION...): what a Prometheus of host a, which scrapes both, answers to
    each: a list of numbers, or a sentence about its mistake."""
    for name in "prometheus", "prometheus-node-exporter":
        if not shutil.which(name):
            pytest.skip(f"{name} is not installed")
    lab.serve()
    for host in lab.a, lab.b:
        out = f"{lab.tmp}/metrics-{host.name}"
        os.mkdir(out)
        host.bare("sh", "-c", f"while sleep 0.5; do {lab.bin('uroce')} metrics --run-dir "
                  f"{host.run_dir} >{out}/uroce.tmp; mv {out}/uroce.tmp {out}/uroce.prom; done")
        host.bare("prometheus-node-exporter", f"--path.sysfs={host.run_dir}/sys",
                  "--collector.disable-defaults", "--collector.infiniband",
                  "--collector.textfile", f"--collector.textfile.directory={out}",
                  "--web.listen-address=:9101")
    with open(f"{lab.tmp}/prometheus.yml", "w") as f:
        f.write(CONFIG.format(lab.a.addr4, lab.b.addr4))
    p = lab.a.bare("prometheus", f"--config.file={lab.tmp}/prometheus.yml",
                   f"--storage.tsdb.path={lab.tmp}/tsdb", "--web.listen-address=127.0.0.1:9090",
                   "--log.level=warn")

    def answers(*texts):
        q = lab.a.bare("/usr/bin/python3", "-c", CLIENT, *texts)
        assert q.wait() == 0, q.report()
        return json.loads(q.text())
    wait_for("prometheus", lambda: p.listens(9090) or not p.running(), limit=60)
    assert p.running(), p.report()
    return answers


def test_expressions(lab, ask):
    """Each is understood and has data of both hosts; the first four say what is wrong."""
    lab.b.nft(rules.drop(2))
    server, client = start_pair(lab.b, lab.a, ["ib_write_bw", "-D", "120", "-F"], flag="-x")
    wait_traffic(lab)
    texts = [text for _, text in expressions()]
    wait_for("data for each", lambda: all(ask(*texts)), limit=40)
    answers = ask(*texts)
    wrong = [(t, a) for t, a in zip(texts, answers) if not a or isinstance(a, str)]
    assert not wrong, wrong
    # "or vector(0)" hides a metric that is not there.
    metrics = sorted(set(re.findall(r"\b(?:uroce|node_infiniband)_\w+", " ".join(texts))))
    for name, found in zip(metrics, ask(*metrics)):
        assert len(found) == 2, (name, found)

    stat = dict(expressions()[:4])
    down, absent, failed, lost = stat.values()
    wait_for("what is lost", lambda: 0 < ask(lost)[0][0] < 1, limit=30)
    assert ask(down, absent) == [[0], [0]]
    server.kill()
    assert client.wait(60)
    wait_for("what failed", lambda: ask(failed)[0][0] > 0, limit=30)
    lab.b.stop()
    wait_for("a host without uroced", lambda: ask(absent) == [[1]], limit=30)


BROWSER = shutil.which("chromium") or shutil.which("chromium-headless-shell")


@pytest.mark.skipif(not os.environ.get("UROCE_FULL"), reason="a browser: only with UROCE_FULL")
@pytest.mark.skipif(not BROWSER, reason="no chromium")
def test_in_a_browser(lab, ask):
    """Prometheus' own page draws each panel's expressions as graphs, for both hosts.
    UROCE_SHOTS: the folder in which pictures of the pages stay."""
    pair = start_pair(lab.b, lab.a, ["ib_write_bw", "-D", "300", "-F"], flag="-x")
    wait_traffic(lab)
    wait_for("data for each", lambda: all(ask(*[text for _, text in expressions()])), limit=40)
    panels = {}
    for title, text in expressions():
        panels.setdefault(title, []).append(text)
    for place, (title, texts) in enumerate(panels.items()):
        words = {f"g{i}.{name}": value for i, text in enumerate(texts) for name, value in
                 (("expr", text), ("tab", "0"), ("range_input", "1m"), ("step_input", "1"))}
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000",
                   f"--user-data-dir={lab.tmp}/profile", "--window-size=1200,1600"]
        url = "http://127.0.0.1:9090/graph?" + urllib.parse.urlencode(words)
        p = lab.a.bare(BROWSER, *options, "--dump-dom", url)
        assert p.wait(120) == 0, p.report()
        dom = p.text()
        # Each has its place for a mistake, which is not shown, and a line for each host, or one
        # for all of them.
        assert dom.count('error alert alert-danger" style="display: none;"') == len(texts), dom
        assert dom.count('<li class="line">') == len(texts) * (1 if place < 4 else 2), (title, dom)
        if "UROCE_SHOTS" in os.environ:
            shot = f"{os.environ['UROCE_SHOTS']}/{place}.png"
            p = lab.a.bare(BROWSER, *options, f"--screenshot={shot}", url)
            assert p.wait(120) == 0, p.report()
    for program in pair:
        program.kill()
