// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Restricts writes to files below the run directory, by two means: a mount namespace, which
 * needs root and covers all changes; and Landlock, which works for any user, and also
 * forbids TCP, execution, and signals to foreign processes. Open descriptors, and those
 * from clients, are not affected.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>
#include "device/confine/confine.h"
#include "util/bytes.h"

static int set_attr(const char *path, unsigned int flags, u64 set, u64 clear,
		    u64 propagation)
{
	struct mount_attr attr = {
		.attr_set = set, .attr_clr = clear, .propagation = propagation};

	return mount_setattr(AT_FDCWD, path, flags, &attr, sizeof(attr)) < 0
		       ? -errno
		       : 0;
}

int ur_confine_mounts(const char *run_dir)
{
	int err;

	if (unshare(CLONE_NEWNS) < 0)
		return -errno;
	/* MS_SLAVE: later mounts of the host appear here, ours do not appear there. This
	 * fails in a chroot, whose root is no mount; then the namespace is an unrestricted
	 * copy. */
	err = set_attr("/", AT_RECURSIVE, 0, 0, MS_SLAVE);
	if (!err && mount(run_dir, run_dir, NULL, MS_BIND, NULL) < 0)
		err = -errno;
	if (!err)
		err = set_attr("/", AT_RECURSIVE,
			       MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID, 0, 0);
	if (!err)
		err = set_attr(run_dir, 0, 0, MOUNT_ATTR_RDONLY, 0);
	return err;
}

/* As in <linux/landlock.h> of ABI 6; older headers and kernels have less. */
struct ruleset {
	u64 fs, net, scoped;
};

struct beneath {
	u64 allowed;
	s32 fd;
} __attribute__((packed));

#define CREATE_RULESET 444
#define ADD_RULE       445
#define RESTRICT_SELF  446
#define GET_VERSION    1u
#define PATH_BENEATH   1

#define FS_EXECUTE     (1ull << 0)
#define FS_WRITE_FILE  (1ull << 1)
#define FS_REMOVE_DIR  (1ull << 4)
#define FS_REMOVE_FILE (1ull << 5)
#define FS_MAKE_CHAR   (1ull << 6)
#define FS_MAKE_DIR    (1ull << 7)
#define FS_MAKE_REG    (1ull << 8)
#define FS_MAKE_SOCK   (1ull << 9)
#define FS_MAKE_FIFO   (1ull << 10)
#define FS_MAKE_BLOCK  (1ull << 11)
#define FS_MAKE_SYM    (1ull << 12)
#define FS_REFER       (1ull << 13) /* from ABI 2 */
#define FS_TRUNCATE    (1ull << 14) /* from ABI 3 */
#define NET_BOTH       3ull	    /* TCP's bind and connect; from ABI 4 */
#define FS_IOCTL_DEV   (1ull << 15) /* from ABI 5 */
#define SCOPE_SIGNAL   (1ull << 1)  /* from ABI 6 */

#define FS_OURS                                                         \
	(FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR | \
	 FS_MAKE_REG | FS_MAKE_SOCK | FS_MAKE_SYM | FS_TRUNCATE)

static struct ruleset rules_of(long abi)
{
	struct ruleset r = {.fs = FS_OURS | FS_EXECUTE | FS_MAKE_CHAR |
				  FS_MAKE_FIFO | FS_MAKE_BLOCK};

	if (abi < 3)
		r.fs &= ~FS_TRUNCATE;
	if (abi >= 2)
		r.fs |= FS_REFER;
	if (abi >= 4)
		r.net = NET_BOTH;
	if (abi >= 5)
		r.fs |= FS_IOCTL_DEV;
	if (abi >= 6)
		r.scoped = SCOPE_SIGNAL;
	return r;
}

/* Makes the ruleset. Fields that older kernels do not know stay zero, which they accept. */
static int make_ruleset(struct ruleset *r)
{
	long abi = syscall(CREATE_RULESET, NULL, 0, GET_VERSION);
	int fd;

	if (abi < 0)
		return -errno;
	*r = rules_of(abi);
	fd = (int)syscall(CREATE_RULESET, r, sizeof(*r), 0);
	return fd < 0 ? -errno : fd;
}

static int allow_beneath(int rules, u64 what, const char *dir)
{
	struct beneath below = {.allowed = what};
	int err = 0;

	below.fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (below.fd < 0 ||
	    syscall(ADD_RULE, rules, PATH_BENEATH, &below, 0) < 0)
		err = -errno;
	if (below.fd >= 0)
		close(below.fd);
	return err;
}

int ur_confine_files(const char *run_dir)
{
	struct ruleset r;
	int err = 0, fd = make_ruleset(&r);

	if (fd < 0)
		return fd;
	if (run_dir)
		err = allow_beneath(fd, FS_OURS & r.fs, run_dir);
	if (!err && syscall(RESTRICT_SELF, fd, 0) < 0)
		err = -errno;
	close(fd);
	return err;
}
