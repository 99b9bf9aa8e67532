// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Muted mistakes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/mute.h"

struct mute_rule {
	char id[16];
	char place[128];
};

static struct mute_rule *rules;
static size_t count;

void ur_mute_read(const char *path)
{
	FILE *in = fopen(path, "re");
	char line[256];

	if (!in) {
		dprintf(STDERR_FILENO, "rdma-check: %s: %s\n", path,
			strerror(errno));
		return;
	}
	while (fgets(line, sizeof(line), in)) {
		struct mute_rule rule = {.place = ""}, *more;
		char *comment = strchr(line, '#');

		if (comment)
			*comment = '\0';
		if (sscanf(line, "%15s %127s", rule.id, rule.place) < 1)
			continue;
		more = realloc(rules, (count + 1) * sizeof(*rules));
		if (!more)
			break;
		rules = more;
		rules[count++] = rule;
	}
	fclose(in);
}

static bool names(const char *place, const struct ur_stack_frame *frame)
{
	char line[192];

	snprintf(line, sizeof(line), "%s:%d", frame->file, frame->line);
	return !strcmp(place, frame->function) || !strcmp(place, line) ||
	       (frame->file[0] && !strcmp(place, frame->file)) ||
	       (frame->module[0] &&
		!strncmp(place, frame->module, strlen(place)));
}

bool ur_mute_has(const char *id, const struct ur_stack *place)
{
	struct ur_stack_frame frame;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(rules[i].id, "*") && strcmp(rules[i].id, id))
			continue;
		if (!rules[i].place[0])
			return true;
		for (int f = 0; f < place->depth; f++) {
			ur_frame_find(place->address[f], &frame);
			if (names(rules[i].place, &frame))
				return true;
		}
	}
	return false;
}
