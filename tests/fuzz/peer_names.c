// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Memory of the program that is a file with a name in /dev/shm and no descriptor, and what another process of its
 * user does to names there. */
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/check.h"
#include "tests/fuzz/peer_world.h"

#define DIR	"/dev/shm"
#define NAME	DIR "/named"
#define ANOTHER DIR "/another" /* of another file */
#define FOLDER	DIR "/folder"
#define WITHIN	FOLDER "/named"
#define DELETED NAME " (deleted)"
#define LINES	DIR "/a b\n7f0000000000-ffff00000000 rw-s 0 0:0 1 " NAME
/* With the folder it is longer than what is read of a name. */
#define TEN  "0123456789"
#define MANY TEN TEN TEN TEN TEN TEN TEN TEN
#define LONG DIR "/" MANY MANY MANY TEN

static struct peer_world *const w = &peer_world;
static bool changed;

/* Nobody else has this one, and it ends with the process. */
static bool own_folder(void)
{
	return !unshare(CLONE_NEWNS) &&
	       !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("shm", DIR, "tmpfs", 0, NULL);
}

static void make_name(const char *name, size_t bytes)
{
	int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && !ftruncate(fd, (off_t)bytes));
	close(fd);
}

/* Maps it where another file was, or where there is room. */
static u8 *map_name(u8 *at)
{
	int fd = open(NAME, O_RDWR | O_CLOEXEC);

	CHECK(fd >= 0 && !fstat(fd, &w->named));
	at = mmap(at, SHOWN_BYTES, PROT_READ | PROT_WRITE,
		  MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);
	CHECK(at != MAP_FAILED);
	close(fd);
	return at;
}

void peer_names_make(void)
{
	if (!own_folder())
		return;
	make_name(ANOTHER, SHOWN_BYTES);
	make_name(NAME, SHOWN_BYTES);
	w->named_at = map_name(NULL);
}

static void remove_all(void)
{
	static const char *const names[] = {NAME, WITHIN, DELETED, LINES, LONG};

	for (u32 i = 0; i < UR_ARRAY_SIZE(names); i++)
		unlink(names[i]);
	rmdir(NAME);
	rmdir(FOLDER);
}

void peer_names_again(void)
{
	if (!changed)
		return;
	changed = false;
	remove_all();
	CHECK(!truncate(ANOTHER, SHOWN_BYTES));
	make_name(NAME, SHOWN_BYTES);
	map_name(w->named_at);
}

/* Each may find that another has been before it. */
void peer_names_change(u32 how)
{
	int failed = 0;

	if (!w->named_at)
		return;
	changed = true;
	switch (how % 12) {
	case 0:
		failed = unlink(NAME);
		break;
	case 1:
		failed = link(ANOTHER, NAME);
		break;
	case 2:
		failed = symlink(ANOTHER, NAME);
		break;
	case 3:
		failed = mkfifo(NAME, 0600);
		break;
	case 4:
		failed = mkdir(NAME, 0700);
		break;
	case 5:
		failed = rename(NAME, DELETED);
		break;
	case 6:
		failed = rename(NAME, LONG);
		break;
	case 7:
		mkdir(FOLDER, 0700);
		failed = rename(NAME, WITHIN);
		break;
	case 8:
		failed = link(ANOTHER, DELETED);
		break;
	case 9:
		failed = rename(NAME, LINES);
		break;
	case 10:
		failed = symlink(DELETED, NAME);
		break;
	default:
		failed = truncate(NAME, 4096);
	}
	(void)failed;
}
