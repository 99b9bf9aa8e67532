#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Spin explores the models of kernel-abi/uroce-ring.h's pairs of memory orders, and of the ring
between two programs,
on a weakly ordered machine (memory.pml), and one of slots that are granted over the ends of uroced
(adopt.pml): as the code has them nothing goes wrong, and with any one of the orders weaker, or
without any one of the steps, something does.

    run.py code              whether the code has the orders that the models have
    run.py [MODEL...]        default all; exits with 77 where Spin is missing; with
                             UROCE_FULL each weaker order, else the first of a model
    run.py --trace MODEL [LABEL=ORDER]       the steps to what goes wrong"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))

# Each model's labels, with the order that the code has, and the weaker ones
# that must be noticed.
MODELS = {
    "ring": {
        "P1": ("REL", ["RLX"]), "C1": ("ACQ", ["RLX"]),
        "R1": ("REL", ["RLX"]), "R2": ("ACQ", ["RLX"]),
    },
    "completion": {
        "Q1": ("REL", ["RLX"]), "Q2": ("ACQ", ["RLX"]),
        "Q3": ("REL", ["RLX"]), "Q4": ("ACQ", ["RLX"]),
    },
    "arm": {
        "A1": ("RLX", []), "A1_BARRIER": ("SC", ["RLX"]), "A2_BARRIER": ("SC", ["RLX"]),
    },
    "receive": {
        "K1_POST": ("SC", ["ACQ_REL", "RLX"]), "K1": ("SC", ["ACQ"]), "K2": ("ACQ", ["RLX"]),
        "K2_BARRIER": ("SC", ["RLX"]),
    },
    "doorbell": {
        # Nothing goes wrong here when one of these is relaxed, since the change
        # of the word orders what is before it: P1, C1, D2_LOOK, D4.
        "P1": ("REL", []), "C1": ("ACQ", []),
        "D1": ("SC", ["REL", "ACQ"]), "D2_LOOK": ("SC", []), "D2": ("SC", ["ACQ_REL"]),
        "D3": ("ACQ_REL", ["ACQ", "REL"]), "D4": ("ACQ_REL", []),
        "S1": ("SC", ["ACQ"]), "S2_BARRIER": ("SC", ["RLX"]),
    },
    "peer": {
        "W1": ("REL", ["RLX"]), "W1_BARRIER": ("SC", ["RLX"]),
        "W2": ("ACQ", ["RLX"]), "W2_BARRIER": ("SC", ["RLX"]),
        "V1": ("ACQ", ["RLX"]), "V2": ("REL", ["RLX"]), "V2_BARRIER": ("SC", ["RLX"]),
        "S2_BARRIER": ("SC", ["RLX"]), "E1": ("RLX", ["NO"]),
    },
    "adopt": {
        "KEEP": ("YES", ["NO"]), "INHERIT": ("YES", ["NO"]), "IDENTITY": ("YES", ["NO"]),
        "TAKE": ("YES", ["NO"]), "DROP": ("YES", ["NO"]), "LOOK": ("YES", ["NO"]),
        "WATCH": ("YES", ["NO"]),
    },
}

# Where each is in the code: file, function, and what stands in it: a call and words of its
# arguments, or some, one after the other.
RING, DOORBELL = "providers/uroce/ring.h", "providers/uroce/doorbell.h"
CQ_RING = "engine/core/cq_ring.c"
PEER = "engine/local/peer_ring.c"
KEPT = "device/uverbs/kept_programs.c"
CODE = {
    "P1": (RING, "ur_sq_publish", "__atomic_store_n hdr->prod RELEASE"),
    "C1": ("engine/core/ring_io.c", "ur_ring_avail", "__atomic_load_n hdr->prod ACQUIRE"),
    "R1": ("engine/core/ring_io.h", "ur_ring_retire", "__atomic_store_n hdr->cons RELEASE"),
    "R2": (RING, "ur_sq_retire", "__atomic_load_n hdr->cons ACQUIRE"),
    "Q1": (CQ_RING, "ur_cq_push", "__atomic_store_n slot->owner RELEASE"),
    "Q2": ("providers/uroce/completions.h", "ur_next_cqe", "__atomic_load_n cqe->owner ACQUIRE"),
    "Q3": ("providers/uroce/completions.h", "ur_publish_cons", "__atomic_store_n hdr->cons RELEASE"),
    "Q4": (CQ_RING, "ur_cq_push", "__atomic_load_n hdr->cons ACQUIRE"),
    "A1": ("providers/uroce/cq.c", "arm_ring", "__atomic_store_n hdr->arm RELAXED"),
    "A1_BARRIER": ("providers/uroce/cq.c", "uroce_req_notify_cq", "__atomic_thread_fence SEQ_CST"),
    "A2_BARRIER": ("engine/core/cq_event.c", "check_arm", "__atomic_thread_fence SEQ_CST"),
    "K1_POST": (RING, "ur_rq_publish", "__atomic_exchange_n hdr->prod SEQ_CST"),
    "K1": (RING, "ur_rq_publish", "__atomic_load_n hdr->flags SEQ_CST"),
    "K2": ("engine/core/ring_io.c", "ur_ring_avail", "__atomic_load_n hdr->prod ACQUIRE"),
    "K2_BARRIER": ("engine/core/rq_ring.c", "ur_rq_want_kick", "__atomic_thread_fence SEQ_CST"),
    "D1": (DOORBELL, "ur_doorbell_ring", "__atomic_fetch_or page->word SEQ_CST"),
    "D2_LOOK": (DOORBELL, "ur_doorbell_ring", "__atomic_load_n page->summary SEQ_CST"),
    "D2": (DOORBELL, "ur_doorbell_ring", "__atomic_fetch_or page->summary SEQ_CST"),
    "S1": (DOORBELL, "ur_doorbell_ring", "__atomic_load_n page->asleep SEQ_CST"),
    "D3": ("engine/core/doorbell.c", "ur_doorbell_take", "__atomic_exchange_n db->word ACQ_REL"),
    "D4": ("engine/core/doorbell.c", "ur_doorbell_take", "__atomic_exchange_n db->summary ACQ_REL"),
    "E1": (PEER, "ur_peer_publish", "atomic_store_explicit out->put 0 memory_order_relaxed; "
           "atomic_store_explicit first memory_order_release"),
    "W1": (PEER, "ur_peer_publish", "atomic_store_explicit first memory_order_release"),
    "W1_BARRIER": (PEER, "ur_peer_publish", "atomic_thread_fence memory_order_seq_cst"),
    "W2": (PEER, "has_room", "atomic_load_explicit word->taken memory_order_acquire"),
    "W2_BARRIER": (PEER, "ur_peer_wait", "atomic_thread_fence memory_order_seq_cst"),
    "V1": ("engine/local/peer_ring.h", "ur_peer_any", "atomic_load_explicit there memory_order_acquire"),
    "V2": (PEER, "ur_peer_done", "atomic_store_explicit word->taken memory_order_release"),
    "V2_BARRIER": (PEER, "ur_peer_woken", "atomic_thread_fence memory_order_seq_cst"),
    "S2_BARRIER": ("engine/core/wait.c", "ur_wait_begins", "atomic_thread_fence memory_order_seq_cst"),
    "KEEP": ("device/uverbs/program_objects.c", "ur_m_engine_async",
             "make_liveness fd; ur_session_install_all ends"),
    "INHERIT": (KEPT, "find_programs", "ur_engine_inherit liveness; add_program slot"),
    "IDENTITY": (KEPT, "ur_kept_program_take", "if p->slot p->uid p->pid"),
    "TAKE": (KEPT, "ur_kept_program_take", "ur_loop_del liveness; ur_list_del &p->on_device.node"),
    "DROP": ("engine/grant/grant.c", "ur_engine_grant_end", "ur_keep_drop &liveness"),
    "LOOK": ("device/keeper_serve.c", "look_at_programs", "poll &p; drop k"),
    "WATCH": (KEPT, "add_program", "ur_loop_add p->liveness on_liveness"),
}


def missing_in_code():
    """Labels whose function does not do what the models say."""
    for label, (path, function, what) in CODE.items():
        with open(os.path.join(TOP, path), encoding="utf-8") as f:
            body = re.search(rf"^[a-z][^\n]*\b{function}\([^;{{]*\{{.*?^}}", f.read(), re.M | re.S)
        calls = [[re.escape(w) for w in call.split()] for call in what.split(";")]
        call = ".*?".join(words[0] + r" ?\(" + "".join("[^;]*?" + w for w in words[1:])
                          for words in calls)
        if not body or not re.search(call, body[0], re.S):
            yield f"{path}: {function}() has no {what} [{label}]"


def explore(model, orders, trace=False):
    """What Spin says is wrong, or None."""
    with tempfile.TemporaryDirectory() as tmp:
        for f in os.listdir(HERE):
            if f.endswith(".pml"):
                shutil.copy(os.path.join(HERE, f), tmp)
        words = [f"-D{label}={order}" for label, order in orders.items()]
        def do(*cmd):
            r = subprocess.run(cmd, cwd=tmp, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if r.returncode:
                sys.exit(f"{' '.join(cmd)}: status {r.returncode}\n{r.stdout[-3000:]}")
            return r.stdout
        do("spin", "-a", *words, f"{model}.pml")
        do("cc", "-O1", "-w", "-DSAFETY", "-DNOFAIR", "-DMEMLIM=2000", "-DVECTORSZ=2048", "-o", "pan", "pan.c")
        out = do("./pan", "-m200000")
        if trace:
            print(do("spin", "-t", "-p", "-g", "-l", *words, f"{model}.pml"))
        if "search depth too small" in out or "out of memory" in out:
            sys.exit(f"{model}: not explored to its end\n{out}")
        states = int(re.search(r"(\d+) states, stored", out)[1])
        wrong = re.search(r"^pan:\d+: (.*?)(?: \(at depth|$)", out, re.M)
        errors = int(re.search(r"errors: (\d+)", out)[1])
        assert bool(wrong) == bool(errors), out
        return states, wrong and wrong[1]


def main():
    if sys.argv[1:] == ["code"]:
        wrong = list(missing_in_code())
        left = {label for model in MODELS.values() for label in model} ^ set(CODE)
        print("\n".join(wrong) or f"{len(CODE)} places", *left)
        return 1 if wrong or left else 0
    if not shutil.which("spin") or not shutil.which("cc"):
        print("skipped: no spin (tests/install-deps.sh fast)")
        return 77
    args = sys.argv[1:]
    if args[:1] == ["--trace"]:
        orders = {label: order for label, (order, _) in MODELS[args[1]].items()}
        orders.update(a.split("=") for a in args[2:])
        print(explore(args[1], orders, trace=True))
        return 0
    bad = 0
    for model in args or MODELS:
        orders = {label: order for label, (order, _) in MODELS[model].items()}
        states, wrong = explore(model, orders)
        print(f"{model}: {states} states, {wrong or 'nothing goes wrong'}")
        bad += bool(wrong)
        weakened = [(label, order, weak) for label, (order, weaker) in MODELS[model].items()
                    for weak in weaker]
        for label, order, weak in weakened if os.environ.get("UROCE_FULL") else weakened[:1]:
            states, wrong = explore(model, {**orders, label: weak})
            print(f"{model}: [{label}] {order} -> {weak}: {wrong or 'NOT NOTICED'}")
            bad += not wrong
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
