// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reports: text, JSON lines, mutes, repetitions, the trap. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check/mute.h"
#include "check/output.h"
#include "check/report.h"

static const struct {
	const char *id, *title, *spec, *advice;
} ids[] = {
#define UR_CHECK_ID(symbol, id, title, spec, advice) {id, title, spec, advice},
#include "check/ids.def"
#undef UR_CHECK_ID
};

/* Places that were reported; beyond these, mistakes are reported again. */
#define SEEN 1024
static struct {
	enum ur_check_id id;
	void *place;
} seen[SEEN];
static unsigned int seen_count, named, repeated, muted;

static bool stop;

void ur_report_init(void)
{
	const char *how = secure_getenv("RDMA_CHECK");
	const char *json = secure_getenv("RDMA_CHECK_JSON");
	const char *mute = secure_getenv("RDMA_CHECK_MUTE");

	stop = how && !strcmp(how, "stop");
	ur_output_init(json);
	if (mute)
		ur_mute_read(mute);
}

static void json_string(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20)
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static void json_member(FILE *out, const char *name, const char *text)
{
	fprintf(out, ",\"%s\":", name);
	json_string(out, text);
}

static void json_stack(FILE *out, const char *name,
		       const struct ur_stack *stack)
{
	struct ur_stack_frame frame;

	fprintf(out, ",\"%s\":[", name);
	for (int i = 0; i < stack->depth; i++) {
		ur_frame_find(stack->address[i], &frame);
		fputs(i ? ",{" : "{", out);
		fputs("\"function\":", out);
		json_string(out, frame.function);
		json_member(out, "file", frame.file);
		json_member(out, "module", frame.module);
		fprintf(out, ",\"line\":%d}", frame.line);
	}
	fputc(']', out);
}

static void write_json(enum ur_check_id id, const struct ur_watched *object,
		       const struct ur_stack *place, const char *what)
{
	char *text = NULL;
	size_t size;
	FILE *out;

	if (!ur_output_has_json())
		return;
	out = open_memstream(&text, &size);
	if (!out)
		return;
	fputs("{\"id\":", out);
	json_string(out, ids[id].id);
	fprintf(out, ",\"pid\":%d,\"tid\":%ld", getpid(),
		(long)syscall(SYS_gettid));
	json_member(out, "title", ids[id].title);
	json_member(out, "what", what);
	json_member(out, "specification", ids[id].spec);
	json_member(out, "advice", ids[id].advice);
	json_stack(out, "stack", place);
	if (object) {
		json_member(out, "object", ur_kind_name(object->kind));
		fprintf(out, ",\"handle\":\"%p\",\"number\":%u", object->handle,
			object->number);
		json_stack(out, "created", &object->made);
	}
	fputs("}\n", out);
	fclose(out);
	ur_output_json(text, size);
	free(text);
}

static void write_text(enum ur_check_id id, const struct ur_watched *object,
		       const struct ur_stack *place, const char *what)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	fprintf(out, "rdma-check: %s: %s\n  what:   %s\n  where:  ", ids[id].id,
		ids[id].title, what);
	ur_stack_print(out, place);
	if (object) {
		fputs("\n  object: ", out);
		ur_watched_print(out, object, true);
	}
	fprintf(out, "\n  rule:   %s\n  do:     %s\n", ids[id].spec,
		ids[id].advice);
	fclose(out);
	ur_output_text(text, size);
	free(text);
}

static bool was_seen(enum ur_check_id id, void *place)
{
	for (unsigned int i = 0; i < seen_count; i++)
		if (seen[i].id == id && seen[i].place == place)
			return true;
	if (seen_count < SEEN) {
		seen[seen_count].id = id;
		seen[seen_count++].place = place;
	}
	return false;
}

static void report(enum ur_check_id id, const struct ur_watched *object,
		   const struct ur_stack *place, const char *format, va_list ap)
{
	int saved = errno;
	char what[1024];

	if (was_seen(id, ur_stack_place(place))) {
		repeated++;
		return;
	}
	if (ur_mute_has(ids[id].id, place)) {
		muted++;
		return;
	}
	named++;
	vsnprintf(what, sizeof(what), format, ap);
	write_text(id, object, place, what);
	write_json(id, object, place, what);
	if (stop)
		raise(SIGTRAP);
	errno = saved;
}

void ur_report(enum ur_check_id id, const struct ur_watched *object,
	       const char *format, ...)
{
	struct ur_stack here;
	va_list ap;

	ur_stack_take(&here);
	va_start(ap, format);
	report(id, object, &here, format, ap);
	va_end(ap);
}

void ur_report_at(enum ur_check_id id, const struct ur_watched *object,
		  const struct ur_stack *place, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	report(id, object, place, format, ap);
	va_end(ap);
}

unsigned int ur_report_count(void)
{
	return named;
}

/* Prints a formatted line; counts: with the number of unreported mistakes. */
static void write_line(bool counts, const char *format, va_list ap)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	fputs("rdma-check: ", out);
	vfprintf(out, format, ap);
	if (counts && repeated)
		fprintf(out, ", %u repeated", repeated);
	if (counts && muted)
		fprintf(out, ", %u muted", muted);
	fputc('\n', out);
	fclose(out);
	ur_output_text(text, size);
	free(text);
}

void ur_report_line(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	write_line(true, format, ap);
	va_end(ap);
}

void ur_report_note(const char *format, ...)
{
	int saved = errno;
	va_list ap;

	va_start(ap, format);
	write_line(false, format, ap);
	va_end(ap);
	errno = saved;
}
