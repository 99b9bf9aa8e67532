// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Lets itself in at a `uroce doctor --fabric` that waits, and sends it what no
 * asker sends: nonsense without the token, nonsense with it, and every field of
 * a good probe at its limits. Prints how many answers came, and how many of
 * these were longer than what they answer.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/path/asker.h"

#define DATAGRAMS 600
#define ANSWER_NS 20000000ull

static struct ur_path_message nonsense(const struct ur_path_asker *a, int i)
{
	struct ur_path_message m;
	uint8_t *bytes = (uint8_t *)&m;

	for (size_t k = 0; k < sizeof(m); k++)
		bytes[k] = (uint8_t)rand();
	if (i % 3) {
		m.token = a->token;
		m.version = UR_PATH_VERSION;
		m.bytes = htons(sizeof(m));
	}
	if (i % 3 == 2) {
		m.kind = (uint8_t)(i % 6 == 2 ? UR_PATH_PING : UR_PATH_ASK);
		m.index = htons((uint16_t)(i % 2 ? 0xffff : i));
		m.series = htons((uint16_t)(i % 5 ? 0xffff : 0));
	}
	return m;
}

int main(int argc, char **argv)
{
	struct ur_path_asker a;
	struct ur_path_target to;
	struct ur_path_received got;
	int answers = 0, longer = 0, err = 0;

	srand(1);
	if (argc != 2 || ur_path_connect(&a, argv[1]))
		return 1;
	to = (struct ur_path_target){.ah = ibv_create_ah(a.queue.pd, &a.attr),
				     .qpn = a.qpn,
				     .qkey = a.qkey};
	for (int i = 0; to.ah && i < DATAGRAMS && !err; i++) {
		struct ur_path_message m = nonsense(&a, i);

		err = ur_path_queue_send(&a.queue, &to, &m, sizeof(m));
	}
	while (ur_path_queue_receive(&a.queue, ur_path_now() + ANSWER_NS,
				     &got) == 1) {
		answers++;
		longer += got.arrival.bytes > sizeof(got.arrival.message);
	}
	printf("answers %d longer %d error %d\n", answers, longer, err);
	return !to.ah || err;
}
