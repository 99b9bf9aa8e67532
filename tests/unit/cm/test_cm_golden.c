// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Captures of the kernel's Soft-RoCE: every CM MAD in them is parsed and
 * rebuilt byte for byte, and the conversations are the ones known to be there.
 */
#include "cm/cm.h"
#include "tests/check.h"
#include "tests/golden/pcap.h"

#define IPV4	     20
#define UDP	     8
#define BTH_DETH     20
#define UD_SEND_ONLY 0x64

struct capture {
	const char *file;
	const char *conversation;
};

/* clang-format off */
static const struct capture captures[] = {
	{"rping.pcap", "REQ REP RTU DREQ DREP "},
	{"ucmatose.pcap", "REQ REP RTU DREQ DREP "},
	{"udaddy.pcap", "SIDR_REQ SIDR_REP "},
	{"write_bw_cm.pcap", "REQ REP RTU REQ REP RTU DREQ DREP DREQ DREP "},
	{"mckey.pcap", ""},
};
/* clang-format on */

/* The MAD of a frame to QP1, or NULL. */
static const u8 *gsi_mad(const struct pcap_frame *frame)
{
	const u8 *bth = frame->packet + IPV4 + UDP;

	if (!pcap_is_roce(frame) || frame->ethertype != 0x0800 ||
	    frame->packet_bytes < IPV4 + UDP + BTH_DETH + UR_CM_MAD_BYTES)
		return NULL;
	if (bth[0] != UD_SEND_ONLY || ur_get_be24(bth + 5) != 1)
		return NULL;
	CHECK_EQ(ur_get_be32(bth + 12), UR_CM_GSI_QKEY);
	return bth + BTH_DETH;
}

static void check_values(const struct ur_cm_mad *mad)
{
	struct ur_ip_cm ip;

	if (mad->attr == UR_CM_REQ) {
		const struct ur_cm_req *r = &mad->u.req;

		CHECK_EQ(r->service_id >> 16, UR_IP_CM_PS_TCP);
		CHECK_EQ(r->primary.local_lid, 0xffff);
		CHECK_EQ(r->primary.hop_limit, 64);
		CHECK_EQ(r->primary.ack_timeout, 0x13);
		CHECK_EQ(r->path_mtu, 3);
		CHECK_EQ(r->max_cm_retries, 15);
		CHECK_EQ(r->remote_response_timeout, 20);
		CHECK_EQ(
			ur_ip_cm_parse(r->private_data, UR_CM_REQ_PRIVATE, &ip),
			0);
		CHECK_EQ(ip.ip_version, 4);
		CHECK(!memcmp(ip.src, r->primary.local_gid, 16));
		CHECK(!memcmp(ip.dst, r->primary.remote_gid, 16));
		/* The UDP source port is made from these, see the kernel's
		 * cma_get_roce_udp_flow_label. */
		CHECK_EQ(r->primary.flow_label,
			 (ip.src_port * 31u + (u16)r->service_id) & 0xfffff);
	} else if (mad->attr == UR_CM_REP) {
		CHECK_EQ(mad->u.rep.target_ack_delay, 15);
		CHECK_EQ(mad->u.rep.rnr_retry_count, 7);
		CHECK_EQ(mad->u.rep.local_ca_guid, 0x505400fffe770002ull);
	} else if (mad->attr == UR_CM_SIDR_REP) {
		CHECK_EQ(mad->u.sidr_rep.status, UR_CM_SIDR_SUCCESS);
		CHECK_EQ(mad->u.sidr_rep.qkey, UR_IP_CM_UDP_QKEY);
	}
}

static void replay(const struct capture *c)
{
	char path[512], conversation[256] = "";
	struct pcap_frame frame;
	struct pcap *pcap;

	snprintf(path, sizeof(path), "%s/%s", UR_GOLDEN_DIR, c->file);
	pcap = pcap_open(path);
	CHECK(pcap);
	while (pcap_next(pcap, &frame)) {
		const u8 *raw = gsi_mad(&frame);
		u8 rebuilt[UR_CM_MAD_BYTES];
		struct ur_cm_mad mad;

		if (!raw)
			continue;
		CHECK_EQ(ur_cm_mad_parse(raw, UR_CM_MAD_BYTES, &mad), 0);
		CHECK_EQ(ur_cm_mad_build(&mad, rebuilt), 0);
		CHECK(!memcmp(raw, rebuilt, sizeof(rebuilt)));
		check_values(&mad);
		snprintf(conversation + strlen(conversation),
			 sizeof(conversation) - strlen(conversation), "%s ",
			 ur_cm_attr_name(mad.attr));
	}
	pcap_close(pcap);
	if (strcmp(conversation, c->conversation)) {
		fprintf(stderr, "%s: %s\n", c->file, conversation);
		exit(1);
	}
}

int main(void)
{
	for (u32 i = 0; i < UR_ARRAY_SIZE(captures); i++)
		replay(&captures[i]);
	return 0;
}
