// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Seeds for fuzz_packet: from every capture the first short packet of each
 * opcode. usage: seed_packet FOLDER
 */
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "tests/check.h"
#include "tests/golden/pcap.h"
#include "transport/frame.h"
#include "transport/opcode.h"

/* Longer ones teach a fuzzer nothing more. */
#define SEED_BYTES_MAX 320

static bool seen[256][2];

static void write_seed(const char *folder, const struct pcap_frame *frame,
		       u8 opcode, u8 version)
{
	char name[64], path[4096];
	FILE *f;

	snprintf(name, sizeof(name), "%s", ur_opcode_name(opcode));
	for (char *c = name; *c; c++)
		*c = *c == ' ' ? '_' : *c;
	snprintf(path, sizeof(path), "%s/v%u_%s", folder, version, name);
	f = fopen(path, "wb");
	CHECK(f);
	CHECK(fputc(0, f) == 0);
	CHECK(fwrite(frame->packet, 1, frame->packet_bytes, f) ==
	      frame->packet_bytes);
	CHECK(!fclose(f));
}

static void seed_from(const char *folder, const char *capture)
{
	struct pcap *p = pcap_open(capture);
	struct pcap_frame frame;
	struct ur_frame f;

	CHECK(p);
	while (pcap_next(p, &frame)) {
		bool *done;
		bool v6;

		if (!pcap_is_roce(&frame) ||
		    ur_frame_parse(&f, false, frame.packet, frame.packet_bytes))
			continue;
		v6 = f.addr.kind == UR_FRAME_V6;
		done = &seen[f.bth[0]][v6];
		if (*done || frame.packet_bytes > (SEED_BYTES_MAX))
			continue;
		*done = true;
		write_seed(folder, &frame, f.bth[0], v6 ? 6 : 4);
	}
	pcap_close(p);
}

int main(int argc, char **argv)
{
	glob_t files;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	CHECK(!glob(UR_GOLDEN_DIR "/*.pcap", 0, NULL, &files));
	for (size_t i = 0; i < files.gl_pathc; i++)
		seed_from(argv[1], files.gl_pathv[i]);
	globfree(&files);
	return 0;
}
