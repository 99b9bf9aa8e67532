#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""doc/features.md names every public verb and flag that is not there.

    verbs.py SOURCE_DIR [VERBS_H]

A verb of the installed verbs.h is one of our operations (providers/uroce/ops.def),
one that the library has without a provider (LIBRARY), one that is made of another
operation (MADE_OF), or named there. So is each operation of newer
releases (ops.def). A flag of the enums below is in the provider's sources or
there. What it names as missing must be missing."""
import pathlib
import re
import sys

# Of the library alone: it asks no provider.
LIBRARY = set("""
    ack_async_event ack_cq_events alloc_buf close_device cq_ex_to_cq create_ah_from_wc
    create_comp_channel destroy_comp_channel end_poll event_type_str export_buf_dmabuf_fd
    flow_label_to_udp_sport fork_init free_buf free_device_list get_async_event get_cq_event
    get_device_guid get_device_index get_device_list get_device_name get_pkey_index import_device inc_rkey init_ah_from_wc
    is_fork_initialized is_qpt_supported next_poll node_type_str open_device port_state_str
    qp_to_qp_ex query_gid query_gid_ex query_gid_table query_pkey rate_to_mbps rate_to_mult
    resolve_eth_l2_from_gid start_poll wc_opcode wc_status_str wr_opcode_str""".split())
# Under another name in the table of operations, or a member of an object.
MADE_OF = {
    "query_device": "query_device_ex", "reg_mr_iova": "reg_mr", "reg_mr_iova2": "reg_mr",
    "query_rt_values_ex": "query_rt_values", "memcpy_from_dm": "alloc_dm",
    "memcpy_to_dm": "alloc_dm", "reg_buf_mr": "reg_mr_ex", "post_wq_recv": "create_wq",
    "wc_read_invalidated_rkey": "create_cq_ex",  # read_imm_data()
}
# Callbacks of the library to the provider, which are no verbs.
HOOKS = {"async_event", "cq_event", "free_context", "alloc_buf", "free_buf"}
ENUMS = ("ibv_qp_create_flags", "ibv_create_cq_wc_flags", "ibv_create_cq_attr_flags",
         "ibv_wq_flags", "ibv_qp_create_send_ops_flags", "ibv_qp_init_attr_mask",
         "ibv_parent_domain_init_attr_mask", "ibv_cq_init_attr_mask",
         "ibv_rx_hash_fields", "ibv_values_mask")


def main(top, header="/usr/include/infiniband/verbs.h"):
    top = pathlib.Path(top)
    if not pathlib.Path(header).exists():
        print("skipped: no verbs.h")
        return 77
    verbs_h = re.sub(r"/\*.*?\*/", "", pathlib.Path(header).read_text(), flags=re.S)
    features = (top / "doc/features.md").read_text()
    sources = "".join(p.read_text() for p in (top / "providers/uroce").glob("*.[ch]"))
    table = dict(re.findall(r"^UR_OP\((\w+), \w+, (\w+)\)", (top / "providers/uroce/ops.def").read_text(), re.M))
    ops, have = set(table), {name for name, whose in table.items() if whose != "NONE"}
    verbs = set(re.findall(r"\bibv_(\w+)\(", verbs_h)) - {"static_providers"}
    named = set(re.findall(r"`ibv_(\w+)`", features[features.index("**other verbs and flags.**"):].split("\n\n")[0]))
    bad = []

    def there(verb):
        if MADE_OF.get(verb) in have:
            return True
        if verb in LIBRARY:
            return True
        if verb.startswith(("wr_", "wc_read_")):  # members of a queue
            return re.search(rf"\b{verb.removeprefix('wc_')}\b", sources)
        return verb in have

    for verb in sorted(verbs | (ops - HOOKS)):
        if verb.startswith("_"):
            continue
        if there(verb) and verb in named:
            bad.append(f"ibv_{verb} is there, and doc/features.md says that it is not")
        if not there(verb) and verb not in named:
            bad.append(f"ibv_{verb} is not there, and doc/features.md does not say so")
    for enum in ENUMS:
        body = re.search(rf"enum {enum} {{(.*?)}}", verbs_h, re.S)
        for flag in re.findall(r"\b(IBV_\w+)\b\s*(?:=|,|$)", body.group(1) if body else "", re.M):
            if flag.endswith("RESERVED"):
                continue
            # UR_: of a release newer than the oldest that this builds with.
            used = re.search(rf"\b(IBV|UR){flag.removeprefix('IBV')}\b", sources)
            if not used and f"`{flag}`" not in features:
                bad.append(f"{flag} is not there, and doc/features.md does not say so")
    print("\n".join(bad))
    return bool(bad)


sys.exit(main(*sys.argv[1:]))
