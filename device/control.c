// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Messages about the devices themselves, which need no open file. */
#include <string.h>
#include <sys/socket.h>
#include "device/control.h"
#include "device/fault.h"
#include "device/link.h"
#include "device/report/record.h"
#include "device/settings/setting.h"
#include "device/report/status.h"
#include "device/tunnel.h"

static void answer(struct ur_session *s, struct uroce_tun_msg *reply,
		   const int *fd, unsigned int n_fds)
{
	if (ur_daemon_send(s->sock, reply, fd, n_fds))
		shutdown(s->sock, SHUT_RDWR);
}

static void status(struct ur_session *s, const char *subject)
{
	struct uroce_tun_msg reply = {.op = UROCE_TUN_DONE};
	u64 len = 0;
	int fd;

	ur_loop_lock(s->daemon->loop);
	fd = ur_quota_take_fds(s->uid, UR_FDS_ANSWER);
	s->answer_fds = fd ? 0 : UR_FDS_ANSWER;
	ur_loop_unlock(s->daemon->loop);
	/* "record" is the only subject that is not JSON. */
	if (fd)
		ur_debug("session %llu: no descriptors for an answer",
			 (unsigned long long)s->id);
	else if (!strcmp(subject, "record"))
		fd = ur_record_memfd(s, &len);
	else
		fd = ur_status(s, subject, &len);
	reply.ret = fd < 0 ? fd : 0;
	reply.text.len = len;
	if (fd >= 0)
		s->answer = fd;
	else
		ur_session_drop_answer(s);
	answer(s, &reply, &fd, fd >= 0);
}

static void command(struct ur_session *s, const struct uroce_tun_msg *msg)
{
	struct uroce_tun_msg reply = {.op = UROCE_TUN_DONE};

	ur_loop_lock(s->daemon->loop);
	if (msg->op == UROCE_TUN_LINK)
		reply.ret = ur_link_command(s, msg, reply.name);
	else if (msg->op == UROCE_TUN_FAULT)
		reply.ret = ur_fault_command(s, msg, reply.name);
	else
		reply.ret = ur_setting_directory(s, msg->kind);
	ur_loop_unlock(s->daemon->loop);
	answer(s, &reply, NULL, 0);
}

bool ur_control(struct ur_session *s, const struct uroce_tun_msg *msg)
{
	switch (msg->op) {
	case UROCE_TUN_STATUS:
		status(s, msg->name);
		return true;
	case UROCE_TUN_DIRECTORY:
	case UROCE_TUN_FAULT:
	case UROCE_TUN_LINK:
		command(s, msg);
		return true;
	default:
		return false;
	}
}
