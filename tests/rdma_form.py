# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What `rdma -d -j` of iproute2 prints of Soft-RoCE, Debian 12's kernel: names in
their order. tests/interop/test_rdma.py holds this against a guest,
tests/e2e/test_rdma.py holds our device against this."""

RXE = {
    "dev": ["ifindex", "ifname", "node_type", "node_guid", "sys_image_guid",
            "adaptive-moderation", "caps"],
    "link": ["ifindex", "ifname", "port", "state", "physical_state", "netdev",
             "netdev_index"],
    "res": ["ifindex", "ifname", "pd", "cq", "qp", "cm_id", "mr", "ctx",
            "srq"],
    "res show qp": ["ifindex", "ifname", "port", "lqpn", "rqpn", "type",
                    "state", "rq-psn", "sq-psn", "path-mig-state", "pdn",
                    "pid", "comm"],
    "res show cq": ["ifindex", "ifname", "cqn", "cqe", "users",
                    "adaptive-moderation", "ctxn", "pid", "comm"],
    "res show pd": ["ifindex", "ifname", "pdn", "local_dma_lkey", "users",
                    "ctxn", "pid", "comm"],
    "res show mr": ["ifindex", "ifname", "mrn", "rkey", "lkey", "mrlen",
                    "pdn", "pid", "comm"],
    "res show cm_id": ["ifindex", "ifname", "port", "cm-idn", "lqpn",
                       "qp-type", "state", "ps", "pid", "comm", "src-addr",
                       "dst-addr"],
    "res show ctx": ["ifindex", "ifname", "ctxn", "pid", "comm"],
    "res show srq": ["ifindex", "ifname", "srqn", "type", "lqpn", "pdn",
                     "pid", "comm"],
    "stat": ["ifname", "port", "sent_pkts", "rcvd_pkts", "duplicate_request",
             "out_of_seq_request", "rcvd_rnr_err", "send_rnr_err",
             "rcvd_seq_err", "ack_deferred", "retry_exceeded_err",
             "retry_rnr_exceeded_err", "completer_retry_err", "send_err",
             "link_downed", "rdma_sends", "rdma_recvs"],
}
