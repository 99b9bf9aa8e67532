// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Parses "NETDEV [NAME] [node=N]". */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "device/spec.h"

#define BLANK " \t"
#define NODE  "node="

int ur_device_spec_node(const char *text)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || n > UR_NODE_MAX)
		return -EINVAL;
	return (int)n;
}

/* word: a word behind the netdev, of len bytes. */
static int take_word(struct ur_device_spec *spec, const char *word, size_t len)
{
	char text[UR_DEVICE_NAME_MAX];

	if (len >= sizeof(text))
		return -EINVAL;
	memcpy(text, word, len);
	text[len] = '\0';
	if (!strncmp(text, NODE, sizeof(NODE) - 1)) {
		if (spec->node >= 0)
			return -EINVAL;
		spec->node = ur_device_spec_node(text + sizeof(NODE) - 1);
		return spec->node < 0 ? -EINVAL : 0;
	}
	if (*spec->name)
		return -EINVAL;
	memcpy(spec->name, text, len + 1);
	return 0;
}

int ur_device_spec_read(const char *words, struct ur_device_spec *ret)
{
	size_t len = strcspn(words, BLANK);
	int err = 0;

	*ret = (struct ur_device_spec){.node = -1};
	if (!len || len >= sizeof(ret->netdev))
		return -ENODEV;
	memcpy(ret->netdev, words, len);
	for (words += len; !err; words += len) {
		words += strspn(words, BLANK);
		len = strcspn(words, BLANK);
		if (!len)
			break;
		err = take_word(ret, words, len);
	}
	return err;
}
