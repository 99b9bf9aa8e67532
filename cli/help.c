// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Prints the usage of all commands or of one, or words for completion. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/option_table.h"

void ur_help(FILE *to)
{
	fputs("usage: uroce [--run-dir DIR] [--json] COMMAND ...\n", to);
	for (const struct ur_command *c = ur_commands; c->name; c++) {
		if (c->group)
			fprintf(to, "\n%s\n", c->group);
		fprintf(to, "  %-8s %s\n", c->name, c->help);
	}
	fputs("\nWhat a command takes: uroce help COMMAND. Manual: uroce(1).\n",
	      to);
}

static void print_option(const struct ur_option *o)
{
	char text[64], letter[] = {'-', o->letter, ',', ' ', '\0'};

	if (!o->value)
		snprintf(text, sizeof(text), "%s--%s", o->letter ? letter : "",
			 o->name);
	else if (o->fallback)
		snprintf(text, sizeof(text), "--%s[=%s]", o->name, o->value);
	else
		snprintf(text, sizeof(text), "%s--%s %s",
			 o->letter ? letter : "", o->name, o->value);
	printf("  %-26s %s\n", text, o->help);
}

/* Prints each form of the arguments on a line of its own. */
static void print_usage(const struct ur_command *c)
{
	const char *args = c->args, *end;

	do {
		end = strstr(args, " | ");
		printf("%s uroce %s [OPTION]...%s%.*s\n",
		       args == c->args ? "usage:" : "      ", c->name,
		       *args ? " " : "", end ? (int)(end - args) : 256, args);
		args = end ? end + 3 : NULL;
	} while (args);
}

void ur_help_command(const struct ur_command *c)
{
	print_usage(c);
	printf("\n%c%s.\n\n", toupper((unsigned char)c->help[0]), c->help + 1);
	for (int i = 0; i < ur_options_count; i++)
		if (ur_option_is_of(&ur_option_table[i], c->name))
			print_option(&ur_option_table[i]);
	fputs("\nThe run directory is --run-dir, else $UROCE_RUN_DIR, else "
	      "/run/uroce (root) or\n$XDG_RUNTIME_DIR/uroce.\n",
	      stdout);
}

/* Prints the literal words of the arguments: the lower-case ones. */
static void print_typed(const char *args)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";

	while (*args) {
		size_t len = strspn(args, letters);

		if (!len) {
			/* The rest of a name in capitals, or of "dev=". */
			args += isalnum((unsigned char)*args) || *args == '.'
					? strcspn(args, " []|")
					: 1;
			continue;
		}
		if (args[len] != '=')
			printf("%.*s\n", (int)len, args);
		args += len;
	}
}

void ur_help_words(const struct ur_command *command)
{
	for (const struct ur_command *c = ur_commands; !command && c->name; c++)
		puts(c->name);
	for (int i = 0; command && i < ur_options_count; i++)
		if (ur_option_is_of(&ur_option_table[i], command->name))
			printf("--%s\n", ur_option_table[i].name);
	if (command)
		print_typed(command->args);
}
