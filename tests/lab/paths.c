// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Mistakes with queue pairs' attributes, paths and datagrams. */
#include <signal.h>
#include <unistd.h>

#include "lab.h"

static void timeout_0(bool wrong)
{
	struct lab_wish wish = {.timeout = wrong ? 255 : 14};
	struct lab lab;

	lab_open(&lab, &wish);
	lab_close(&lab);
}

static void qp_path(bool wrong)
{
	struct lab_wish wish = {.no_connect = true, .other_gid = wrong};
	struct lab lab;

	lab_open(&lab, &wish);
	MUST(!!lab_connect(&lab, 0) == wrong);
	lab_close(&lab);
}

static void qp_modify(bool wrong)
{
	struct lab_wish wish = {.no_connect = true};
	struct lab lab;

	lab_open(&lab, &wish);
	if (wrong)
		MUST(lab_to_rtr(&lab, 0));
	else
		MUST(!lab_connect(&lab, 0));
	lab_close(&lab);
}

static void rd_atomic(bool wrong)
{
	struct lab_wish wish = {.rd_atomic = 4,
				.dest_rd_atomic = wrong ? 1 : 4};
	struct lab lab;

	lab_open(&lab, &wish);
	lab_close(&lab);
}

static void crashed(int signal)
{
	_exit(0);
}

static void datagram(uint32_t length, uint32_t qkey, bool ah)
{
	struct lab_wish wish = {.ud = true};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND}, *bad;
	struct ibv_sge sge;
	struct lab lab;

	lab_open(&lab, &wish);
	sge = lab_sge(&lab, 0, length);
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.wr.ud.ah = ah ? lab.ah : NULL;
	/* A provider may do with no address as it likes. */
	if (!ah)
		signal(SIGSEGV, crashed);
	wr.wr.ud.remote_qpn = lab.qp[1]->qp_num;
	wr.wr.ud.remote_qkey = qkey;
	MUST(!lab_recv(&lab, 4096 + 40));
	if (!ibv_post_send(lab.qp[0], &wr, &bad))
		lab_wait(&lab, 0);
	lab_close(&lab);
}

static void ud_long(bool wrong)
{
	datagram(wrong ? 4097 : 1024, 0x1234, true);
}

static void ud_qkey(bool wrong)
{
	datagram(64, wrong ? 0x4321 : 0x1234, true);
}

static void ud_ah(bool wrong)
{
	datagram(64, 0x1234, !wrong);
}

const struct lab_case lab_paths[] = {
	{"UR-QP-03", timeout_0}, {"UR-QP-04", qp_path},
	{"UR-QP-05", qp_modify}, {"UR-QP-06", rd_atomic},
	{"UR-SQ-10", ud_long},	 {"UR-SQ-11", ud_ah},
	{"UR-SQ-12", ud_qkey},	 {0}};
