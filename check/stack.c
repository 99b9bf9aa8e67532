// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Stacks by backtrace(3); functions, files and lines by libdw. */
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <execinfo.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/stack.h"

/* Libraries whose frames are not the program's. A provider's name contains
 * this; one that programs may link is listed by name. */
#define PROVIDER "-rdmav"
static const char *const between[] = {"librdma-check.so", "libibverbs.so",
				      "librdmacm.so",	  "libmlx4.so",
				      "libmlx5.so",	  "libefa.so",
				      "libhns.so",	  "libmana.so",
				      "libionic.so",	  NULL};

static bool in_library(void *address, const char *library)
{
	Dl_info info;

	return dladdr(address, &info) && info.dli_fname &&
	       !strncmp(basename(info.dli_fname), library, strlen(library));
}

static bool is_between(void *address)
{
	Dl_info info;

	if (dladdr(address, &info) && info.dli_fname &&
	    strstr(info.dli_fname, PROVIDER))
		return true;
	for (int i = 0; between[i]; i++)
		if (in_library(address, between[i]))
			return true;
	return false;
}

bool ur_of_program(void *address)
{
	static const char *const others[] = {"libc.so", "ld-linux", "liburoce"};
	Dl_info info;

	if (!dladdr(address, &info) || is_between(address))
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (in_library(address, others[i]))
			return false;
	return true;
}

bool ur_of_device(void *address)
{
	return in_library(address, "liburoce");
}

bool ur_of_rdmacm(void *address)
{
	return in_library(address, "librdmacm.so");
}

bool ur_stack_in_rdmacm(const struct ur_stack *stack)
{
	for (int i = 0; i < stack->depth && is_between(stack->address[i]); i++)
		if (in_library(stack->address[i], "librdmacm.so"))
			return true;
	return false;
}

/* The linker's symbols for the begin and the end of this library. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static bool is_ours(void *address)
{
	return (const char *)address >= __ehdr_start &&
	       (const char *)address < _end;
}

void ur_stack_take(struct ur_stack *stack)
{
	void *all[UR_STACK_DEPTH + 8];
	int n = backtrace(all, UR_STACK_DEPTH + 8), first = 0;

	while (first < n && is_ours(all[first]))
		first++;
	stack->depth = 0;
	while (first < n && stack->depth < UR_STACK_DEPTH)
		stack->address[stack->depth++] = all[first++];
}

void ur_place_take(struct ur_code_place *place)
{
	void *all[8];
	int n = backtrace(all, 8), first = 0, to = 0;

	memset(place, 0, sizeof(*place));
	while (first < n && is_ours(all[first]))
		first++;
	while (first < n && to < 3)
		place->address[to++] = all[first++];
}

void ur_stack_of(struct ur_stack *stack, const struct ur_code_place *place)
{
	stack->depth = 0;
	while (stack->depth < 3 && place->address[stack->depth]) {
		stack->address[stack->depth] = place->address[stack->depth];
		stack->depth++;
	}
}

void *ur_stack_place(const struct ur_stack *stack)
{
	for (int i = 0; i < stack->depth; i++)
		if (!is_between(stack->address[i]))
			return stack->address[i];
	return stack->depth ? stack->address[0] : NULL;
}

static Dwfl *session(Dwarf_Addr address)
{
	static char *debuginfo_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.debuginfo_path = &debuginfo_path,
	};
	static Dwfl *dwfl;
	static pid_t pid;

	/* The present list lacks libraries loaded since; after fork() it is the
	 * parent's. */
	if (dwfl && pid == getpid() && dwfl_addrmodule(dwfl, address))
		return dwfl;
	if (dwfl)
		dwfl_end(dwfl);
	dwfl = dwfl_begin(&callbacks);
	pid = getpid();
	if (dwfl && (dwfl_linux_proc_report(dwfl, pid) ||
		     dwfl_report_end(dwfl, NULL, NULL))) {
		dwfl_end(dwfl);
		dwfl = NULL;
	}
	return dwfl;
}

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

/* Returns whether it is a header whose inline functions programs call. */
static bool is_header(const char *file)
{
	return !strcmp(file, "verbs.h") || !strcmp(file, "rdma_verbs.h");
}

static Dwarf_Word number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value = 0;

	dwarf_formudata(dwarf_attr_integrate(die, name, &attr), &value);
	return value;
}

/* Moves the frame from an inlined function of those headers to its caller in
 * the program. */
static void leave_inlined(Dwfl_Module *module, Dwarf_Addr at,
			  struct ur_stack_frame *frame)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit = dwfl_module_addrdie(module, at, &bias), *scopes;
	Dwarf_Files *files = NULL;
	size_t count;
	int n = unit ? dwarf_getscopes(unit, at - bias, &scopes) : 0;

	if (n <= 0)
		return;
	dwarf_getsrcfiles(unit, &files, &count);
	for (int i = 0; i < n && is_header(frame->file); i++) {
		const char *file;

		if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
			continue;
		file = dwarf_filesrc(files, number(&scopes[i], DW_AT_call_file),
				     NULL, NULL);
		if (!file)
			break;
		copy_text(frame->file, sizeof(frame->file), basename(file));
		frame->line = (int)number(&scopes[i], DW_AT_call_line);
	}
	free(scopes);
}

void ur_frame_find(void *address, struct ur_stack_frame *frame)
{
	/* The call itself, not the return address, which may be on another
	 * line. */
	Dwarf_Addr at = (Dwarf_Addr)(uintptr_t)address - 1;
	Dwfl *dwfl = session(at);
	Dwfl_Module *module = dwfl ? dwfl_addrmodule(dwfl, at) : NULL;
	const char *name;
	Dwfl_Line *line;
	Dl_info info;

	memset(frame, 0, sizeof(*frame));
	if (dladdr(address, &info) && info.dli_fname) {
		copy_text(frame->module, sizeof(frame->module),
			  basename(info.dli_fname));
		if (info.dli_sname)
			copy_text(frame->function, sizeof(frame->function),
				  info.dli_sname);
	}
	if (!module)
		return;
	name = dwfl_module_addrname(module, at);
	if (name)
		copy_text(frame->function, sizeof(frame->function), name);
	line = dwfl_module_getsrc(module, at);
	name = line ? dwfl_lineinfo(line, NULL, &frame->line, NULL, NULL, NULL)
		    : NULL;
	if (name)
		copy_text(frame->file, sizeof(frame->file), basename(name));
	if (is_header(frame->file))
		leave_inlined(module, at, frame);
}

void ur_place_frame(const struct ur_code_place *place,
		    struct ur_stack_frame *frame)
{
	ur_frame_find(place->address[0], frame);
	for (int i = 1; i < 3 && place->address[i] && is_header(frame->file);
	     i++)
		ur_frame_find(place->address[i], frame);
}

void ur_frame_print(FILE *out, const struct ur_stack_frame *frame)
{
	fputs(frame->function[0] ? frame->function : "?", out);
	if (frame->file[0])
		fprintf(out, " (%s:%d)", frame->file, frame->line);
	else if (frame->module[0])
		fprintf(out, " (%s)", frame->module);
}

void ur_stack_print(FILE *out, const struct ur_stack *stack)
{
	struct ur_stack_frame frame;

	for (int i = 0; i < stack->depth; i++) {
		ur_frame_find(stack->address[i], &frame);
		/* Start code of the C library. */
		if (i && (!strncmp(frame.function, "__libc_start", 12) ||
			  !strcmp(frame.function, "_start") ||
			  !strcmp(frame.function, "start_thread")))
			break;
		fputs(i ? " < " : "", out);
		ur_frame_print(out, &frame);
	}
	if (!stack->depth)
		fputs("?", out);
}
