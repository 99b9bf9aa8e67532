// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reads the files of a systemd service. */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/service/unit.h"
#include "util/text.h"

#define SUFFIX ".service"

/* systemd.unit(5), "Unit File Load Path": the first file of a name counts. */
static const char *const folders[] = {
	"/etc/systemd/system",	       "/run/systemd/system",
	"/run/systemd/generator",      "/usr/local/lib/systemd/system",
	"/usr/lib/systemd/system",     "/lib/systemd/system",
	"/run/systemd/generator.late",
};
#define FOLDERS (sizeof(folders) / sizeof(*folders))

int ur_unit_name(const char *given, char *name)
{
	size_t len = strlen(given);
	bool whole = len > strlen(SUFFIX) &&
		     !strcmp(given + len - strlen(SUFFIX), SUFFIX);
	const char *dot = strrchr(given, '.');
	static const char *const others[] = {".socket", ".target", ".timer",
					     ".slice",	".scope",  ".mount",
					     ".path",	".device"};

	if (!len || *given == '.' || *given == '-' || *given == '@')
		return -EINVAL;
	for (const char *c = given; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr(":-_.\\@", *c))
			return -EINVAL;
	for (size_t i = 0; dot && i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(dot, others[i]))
			return -EINVAL;
	return snprintf(name, UR_UNIT_NAME_MAX, "%s%s", given,
			whole ? "" : SUFFIX) < UR_UNIT_NAME_MAX
		       ? 0
		       : -EINVAL;
}

/* A value of LD_PRELOAD ends with the assignment: at a space, or at its closing quotation
 * mark. */
static void take_preload(const char *value, char *preload)
{
	const char *at = value;

	while ((at = strstr(at, "LD_PRELOAD="))) {
		char before = at == value ? ' ' : at[-1];
		const char *end = before == '"'	   ? "\""
				  : before == '\'' ? "'"
						   : " \t";

		at += strlen("LD_PRELOAD=");
		if (before != '"' && before != '\'' && !isspace(before))
			continue;
		snprintf(preload, PATH_MAX, "%.*s", (int)strcspn(at, end), at);
	}
}

static void read_environment_file(const char *root, const char *value,
				  struct ur_unit *unit)
{
	char path[PATH_MAX], *line = NULL;
	size_t size = 0;
	FILE *f;

	value += *value == '-';
	snprintf(path, sizeof(path), "%s%s", root, value);
	f = fopen(path, "re");
	if (!f)
		return;
	while (getline(&line, &size, f) > 0) {
		const char *at = line + strspn(line, " \t");

		if (!strncmp(at, "LD_PRELOAD=", strlen("LD_PRELOAD=")))
			snprintf(unit->overrides, sizeof(unit->overrides), "%s",
				 value);
	}
	free(line);
	fclose(f);
}

static bool is_true(const char *value)
{
	static const char *const words[] = {"1", "yes", "y", "true", "t", "on"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcasecmp(value, words[i]))
			return true;
	return false;
}

/* Lines accumulate; "~" begins a list of exclusions; an empty line resets. */
static void restrict_families(const char *value, struct ur_unit *unit)
{
	bool named = strstr(value, "AF_UNIX");

	if (!*value)
		unit->no_unix = false;
	else if (*value == '~')
		unit->no_unix |= named;
	else
		unit->no_unix = !named;
}

static void set(const char *root, const char *key, const char *value,
		struct ur_unit *unit)
{
	if (!strcmp(key, "Environment")) {
		if (!*value)
			*unit->preload = '\0';
		take_preload(value, unit->preload);
	} else if (!strcmp(key, "EnvironmentFile")) {
		if (!*value)
			*unit->overrides = '\0';
		else
			read_environment_file(root, value, unit);
	} else if (!strcmp(key, "SystemCallFilter")) {
		unit->call_filter = *value;
	} else if (!strcmp(key, "RestrictAddressFamilies")) {
		restrict_families(value, unit);
	} else if (!strcmp(key, "RootDirectory") || !strcmp(key, "RootImage")) {
		unit->own_root = *value && strcmp(value, "/") != 0;
	} else if (!strcmp(key, "PrivateNetwork")) {
		unit->own_network = is_true(value);
	} else if (!strcmp(key, "NetworkNamespacePath")) {
		unit->own_network = *value;
	}
}

/* Reads a line, joined with its continuations ("\"). Returns false at the end of the file. */
static bool get_line(FILE *f, char *line, size_t size)
{
	size_t len = 0;

	while (len + 1 < size && fgets(line + len, (int)(size - len), f)) {
		len += strlen(line + len);
		if (len < 2 || line[len - 1] != '\n' || line[len - 2] != '\\')
			return true;
		len -= 1;
		line[len - 1] = ' ';
	}
	return len;
}

static int read_file(const char *root, const char *path, struct ur_unit *unit)
{
	bool service = false;
	char line[8192];
	FILE *f = fopen(path, "re");

	if (!f)
		return -errno;
	while (get_line(f, line, sizeof(line))) {
		char *key = ur_text_trim(line), *value = strchr(key, '=');

		if (*key == '[')
			service = !strcmp(key, "[Service]");
		if (!service || !value || strchr("[#;", *key))
			continue;
		*value++ = '\0';
		set(root, ur_text_trim(key), ur_text_trim(value), unit);
	}
	fclose(f);
	return 0;
}

static int read_unit_file(const char *root, const char *name,
			  struct ur_unit *unit)
{
	char path[PATH_MAX];
	int err = -ENOENT;

	for (size_t i = 0; i < FOLDERS && err == -ENOENT; i++) {
		snprintf(path, sizeof(path), "%s%s/%s", root, folders[i], name);
		err = read_file(root, path, unit);
	}
	return err;
}

static void read_dropins(const char *root, const char *name,
			 struct ur_unit *unit)
{
	char pattern[PATH_MAX];
	glob_t found;

	for (size_t i = FOLDERS; i-- > 0;) {
		snprintf(pattern, sizeof(pattern), "%s%s/%s.d/*.conf", root,
			 folders[i], name);
		if (glob(pattern, 0, NULL, &found))
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++)
			if (fnmatch("*/" UR_UNIT_DROPIN, found.gl_pathv[k], 0))
				read_file(root, found.gl_pathv[k], unit);
		globfree(&found);
	}
}

int ur_unit_read(const char *root, const char *name, struct ur_unit *unit)
{
	char template[UR_UNIT_NAME_MAX];
	const char *at = strchr(name, '@');
	int err;

	memset(unit, 0, sizeof(*unit));
	snprintf(unit->name, sizeof(unit->name), "%s", name);
	err = read_unit_file(root, name, unit);
	*template = '\0';
	if (at && strcmp(at + 1, SUFFIX) != 0)
		snprintf(template, sizeof(template), "%.*s" SUFFIX,
			 (int)(at + 1 - name), name);
	if (err == -ENOENT && *template)
		err = read_unit_file(root, template, unit);
	if (err)
		return err;
	if (*template)
		read_dropins(root, template, unit);
	read_dropins(root, name, unit);
	return 0;
}
