// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The promises of kernel-abi/ to programs that are installed already, held against
 * the table in layout.h: size and place of each field, and each number.
 *
 * The fields of each struct must fill it without a gap, and whatever the
 * headers define must be in the table: nothing is left out by oversight.
 *
 * usage: test_layout KERNEL_ABI_FOLDER
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "kernel-abi/uroce-abi.h"
#include "kernel-abi/uroce-record.h"
#include "kernel-abi/uroce-ring.h"
#include "kernel-abi/uroce-tunnel.h"
#include "tests/check.h"

struct field {
	const char *type, *name; /* no name: the struct's end */
	size_t is_at, is_bytes, at, bytes;
};

struct number {
	const char *name;
	unsigned long long is, value;
};

/* clang-format off */
#define FIELD(type, field, at, bytes)                \
	{ #type, #field, offsetof(struct type, field), \
	  sizeof(((struct type *)0)->field), at, bytes }
#define END(type, bytes) { #type, NULL, sizeof(struct type), 0, bytes, 0 }
#define NUMBER(name, value) { #name, (unsigned long long)(name), value }
/* clang-format on */

#include "tests/abi/layout.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static int bad;

static void check_fields(void)
{
	size_t end = 0;

	for (const struct field *f = fields; f < fields + COUNT(fields); f++) {
		if (f->is_at != f->at || f->is_bytes != f->bytes) {
			fprintf(stderr,
				"%s.%s: at %zu, %zu bytes; was %zu, %zu\n",
				f->type, f->name ? f->name : "(end)", f->is_at,
				f->is_bytes, f->at, f->bytes);
			bad++;
		}
		if (f->at > end) {
			fprintf(stderr,
				"%s: bytes %zu to %zu are of no field\n",
				f->type, end, f->at);
			bad++;
		}
		/* The members of a union share their bytes. */
		if (f->at + f->bytes > end)
			end = f->at + f->bytes;
		if (!f->name)
			end = 0;
	}
}

static void check_numbers(void)
{
	for (const struct number *n = numbers; n < numbers + COUNT(numbers);
	     n++) {
		if (n->is == n->value)
			continue;
		fprintf(stderr, "%s: %#llx; was %#llx\n", n->name, n->is,
			n->value);
		bad++;
	}
}

static bool known(const char *name)
{
	for (size_t i = 0; i < COUNT(fields); i++)
		if (!strcmp(fields[i].type, name))
			return true;
	for (size_t i = 0; i < COUNT(numbers); i++)
		if (!strcmp(numbers[i].name, name))
			return true;
	return !strcmp(name, "UROCE_TUN_SOCKET") || /* strings: below */
	       !strcmp(name, "UROCE_TUN_ONLY") ||
	       !strcmp(name, "UROCE_PCI_DOMAIN");
}

/* The name that a line of a header defines: a macro with a value, a constant
 * of an enum, a struct. */
static bool defines(const char *line, char *name)
{
	char after;

	if (sscanf(line, "#define %63[A-Z0-9_] %c", name, &after) == 2)
		return !strncmp(name, "UROCE_", 6);
	if (sscanf(line, "struct %63[a-z0-9_] %c", name, &after) == 2)
		return after == '{';
	return line[0] == '\t' &&
	       sscanf(line, "\t%63[A-Z0-9_] %c", name, &after) == 2 &&
	       (after == '=' || after == ',') && !strncmp(name, "UROCE_", 6);
}

static void check_complete(const char *folder, const char *header)
{
	char path[512], line[256], name[64];
	size_t found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, header);
	f = fopen(path, "re");
	CHECK(f);
	while (fgets(line, sizeof(line), f)) {
		if (!defines(line, name))
			continue;
		found++;
		if (known(name))
			continue;
		fprintf(stderr, "%s: %s is not in the table\n", header, name);
		bad++;
	}
	fclose(f);
	CHECK(found > 10);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	check_fields();
	check_numbers();
	check_complete(argv[1], "uroce-ring.h");
	check_complete(argv[1], "uroce-abi.h");
	check_complete(argv[1], "uroce-tunnel.h");
	check_complete(argv[1], "uroce-record.h");
	CHECK(!strcmp(UROCE_TUN_SOCKET, "uroced.sock"));
	CHECK(!strcmp(UROCE_TUN_ONLY, "only"));
	CHECK(!strcmp(UROCE_PCI_DOMAIN, "7572"));
	printf("%zu fields and ends, %zu numbers\n", COUNT(fields),
	       COUNT(numbers));
	return bad != 0;
}
