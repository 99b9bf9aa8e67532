// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Checks capabilities of clients over our network namespace. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "device/client_rights.h"
#include "device/session.h"
#include "util/os/proof.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71 /* since Linux 5.14 */
#endif

static struct {
	/* identifies the network namespace; 0: dev and ino do */
	u64 cookie;
	dev_t dev; /* of its file in procfs */
	ino_t ino;
	struct ur_file_id lock;
	bool net_admin; /* we have that capability */
} ours;

static u64 cookie_of(int sock)
{
	u64 cookie = 0;
	socklen_t len = sizeof(cookie);

	return getsockopt(sock, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len)
		       ? 0
		       : cookie;
}

static bool have_net_admin(void)
{
	int fd = ur_proof_net_admin();

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

int ur_client_rights_init(int lock)
{
	struct stat st;
	int err = ur_file_id(lock, &ours.lock), sock;

	if (err)
		return err;
	ours.net_admin = have_net_admin();
	sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return -errno;
	ours.cookie = cookie_of(sock);
	close(sock);
	if (ours.cookie)
		return 0;
	if (stat("/proc/self/ns/net", &st) < 0)
		return -errno;
	ours.dev = st.st_dev;
	ours.ino = st.st_ino;
	return 0;
}

static bool is_our_file(int ns)
{
	struct stat st;

	return !fstat(ns, &st) && st.st_dev == ours.dev &&
	       st.st_ino == ours.ino;
}

enum ur_client_net ur_client_network(int fd)
{
	u64 cookie = ours.cookie ? cookie_of(fd) : 0;
	int ns;
	bool same;

	if (cookie)
		return cookie == ours.cookie ? UR_CLIENT_NET_OURS
					     : UR_CLIENT_NET_OTHER;
	/* We need CAP_NET_ADMIN for this. */
	ns = ours.ino ? ioctl(fd, SIOCGSKNS) : -1;
	if (ns < 0)
		return UR_CLIENT_NET_UNKNOWN;
	same = is_our_file(ns);
	close(ns);
	return same ? UR_CLIENT_NET_OURS : UR_CLIENT_NET_OTHER;
}

bool ur_client_is_in_our_network(int fd)
{
	return ur_client_network(fd) == UR_CLIENT_NET_OURS;
}

bool ur_client_may_raw(struct ur_session *s)
{
	struct ur_loop *loop = s->daemon->loop;
	bool may;
	int fd;

	fd = ur_session_ask_proof(s, s->features & UROCE_TUN_F_RAW_IP
					     ? UROCE_TUN_NET_RAW_IP
					     : UROCE_TUN_NET_RAW);
	if (fd < 0)
		return false;
	ur_loop_unlock(loop);
	may = ur_proves_net_raw(fd) && ur_client_is_in_our_network(fd);
	ur_loop_lock(loop);
	return may;
}

bool ur_client_may_bind(struct ur_session *s, unsigned int limit)
{
	struct ur_loop *loop = s->daemon->loop;
	bool may;
	int fd;

	fd = ur_session_ask_proof(s, UROCE_TUN_NET_BIND);
	if (fd < 0)
		return false;
	ur_loop_unlock(loop);
	may = ur_proves_net_bind(fd, limit) && ur_client_is_in_our_network(fd);
	ur_loop_lock(loop);
	return may;
}

static bool writes_our_lock(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct ur_file_id id;

	return flags >= 0 && !(flags & O_PATH) &&
	       (flags & O_ACCMODE) != O_RDONLY && !ur_file_id(fd, &id) &&
	       ur_file_id_same(&id, &ours.lock);
}

int ur_client_administers(struct ur_session *s, int fd)
{
	struct ur_loop *loop = s->daemon->loop;
	bool network = ur_proves_net_admin(fd);

	if (network && !ur_client_is_in_our_network(fd))
		return -EXDEV;
	if (!network && (ours.net_admin || !writes_our_lock(fd)))
		return -EPERM;
	ur_loop_lock(loop);
	s->administers = true;
	ur_loop_unlock(loop);
	return 0;
}
