// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * uroce trace: the RoCE packets of an interface, a decoded line each.
 * uroce dump: the same packets into a file for Wireshark.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/capture.h"
#include "cli/pcapng.h"
#include "cli/select.h"
#include "transport/dump.h"

struct dump {
	struct ur_select select;
	FILE *file; /* NULL: text */
	bool json;
	uint64_t left; /* packets still to show */
};

static bool is_v1(const uint8_t *packet)
{
	return ur_get_be16(packet + 12) == UR_ROCE_V1_ETHERTYPE;
}

static void show_text(const struct dump *dump,
		      const struct ur_capture_meta *meta, const uint8_t *packet,
		      size_t len)
{
	bool v1 = is_v1(packet);
	time_t seconds = (time_t)(meta->ns / 1000000000u);
	char text[UR_DUMP_BYTES], clock[16], prio[32] = "";
	enum ur_frame_error error;
	struct ur_frame frame;
	struct tm tm;

	error = ur_frame_parse(&frame, v1, packet + UR_CAPTURE_ETH,
			       len - UR_CAPTURE_ETH);
	ur_frame_dump(text, sizeof(text), &frame, error);
	if (meta->priority >= 0)
		snprintf(prio, sizeof(prio),
			 dump->json ? "\"priority\":%d," : "prio %d ",
			 meta->priority);
	if (dump->json) {
		/* The decoded line has no characters that JSON escapes. */
		printf("{\"ns\":%" PRIu64 ",\"direction\":\"%s\",%s\"verdict\":"
		       "\"%s\",\"packet\":\"%s\"}\n",
		       meta->ns, meta->out ? "out" : "in", prio,
		       ur_frame_error_name(error), text);
	} else {
		localtime_r(&seconds, &tm);
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
		printf("%s.%06" PRIu64 " %s %s%s\n", clock,
		       meta->ns / 1000 % 1000000, meta->out ? "->" : "<-", prio,
		       text);
	}
}

static bool show_packet(void *arg, const struct ur_capture_meta *meta,
			const uint8_t *packet, size_t len)
{
	struct dump *dump = arg;

	if (!ur_select_wants(&dump->select, is_v1(packet),
			     packet + UR_CAPTURE_ETH, len - UR_CAPTURE_ETH))
		return true;
	if (dump->file) {
		ur_pcapng_packet(dump->file, meta->ns, packet, len);
		fflush(dump->file);
	} else {
		show_text(dump, meta, packet, len);
	}
	return --dump->left;
}

static int run(struct dump *dump, const struct ur_options *options)
{
	int fd, err;

	dump->json = options->json;
	dump->left = options->count ? (uint64_t)options->count : UINT64_MAX;
	err = ur_select_init(&dump->select, options);
	if (err)
		return err;
	fd = ur_capture_open(options);
	if (fd < 0)
		return UR_EXIT_FAILED;
	err = ur_capture_run(fd, show_packet, dump);
	close(fd);
	return err ? UR_EXIT_FAILED : 0;
}

int ur_cmd_trace(struct ur_options *options)
{
	struct dump dump = {0};

	if (options->netdevs > 1 || options->rest_count) {
		ur_complain("trace: usage: uroce trace [--netdev IF] [-c "
			    "COUNT] [--peer ADDRESS] [--qpn N]");
		return UR_EXIT_USAGE;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	return run(&dump, options);
}

int ur_cmd_dump(struct ur_options *options)
{
	struct dump dump = {0};
	int ret;

	if (options->netdevs > 1 || options->rest_count != 1 || options->json) {
		ur_complain("dump: usage: uroce dump [--netdev IF] [-c COUNT] "
			    "[--peer ADDRESS] [--qpn N] FILE; decoded lines: "
			    "uroce trace");
		return UR_EXIT_USAGE;
	}
	dump.file = strcmp(options->rest[0], "-")
			    ? fopen(options->rest[0], "we")
			    : stdout;
	if (!dump.file) {
		ur_complain("%s: %s", options->rest[0], strerror(errno));
		return UR_EXIT_FAILED;
	}
	ur_pcapng_begin(dump.file);
	ret = run(&dump, options);
	if (fclose(dump.file)) {
		ur_complain("%s: %s", options->rest[0], strerror(errno));
		return UR_EXIT_FAILED;
	}
	return ret;
}
