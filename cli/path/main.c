// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * uroce-path: the part of `uroce doctor --fabric` that is an RDMA program.
 *
 *   uroce-path ask ADDRESS
 *   uroce-path listen
 *
 * It prints line by line what becomes of its probes; lines.h has the words. A
 * program of its own, because it links librdmacm; it runs on any RDMA device,
 * with `uroce run` on ours.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/path/asker.h"
#include "util/os/standard_fds.h"

/* Above the sum of an asker's timeouts. */
#define LIMIT_S 10

static int ask(const char *address)
{
	struct ur_path_asker asker;
	int status;

	alarm(LIMIT_S);
	status = ur_path_connect(&asker, address);
	if (!status)
		status = ur_path_ask(&asker);
	ur_path_disconnect(&asker);
	return status;
}

int main(int argc, char **argv)
{
	ur_open_standard_fds();
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 3 && !strcmp(argv[1], "ask"))
		return ask(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "listen"))
		return ur_path_listen();
	fputs("usage: uroce-path ask ADDRESS | listen\n", stderr);
	return 2;
}
