// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Fault rules: adds, deletes and lists them, and applies those that affect control. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/administrator.h"
#include "device/fault.h"
#include "device/netdev.h"
#include "device/watcher.h"

struct ur_fault {
	struct ur_list node; /* of the daemon's faults */
	struct ur_device *dev;
	u32 id;
	char text[UR_FAULT_TEXT]; /* without the device */
	struct ur_fault_rule rule;
	struct ur_fault_state state; /* for decisions in control */
	struct ur_efault *engine[2]; /* NULL: none */
	struct ur_loop_timer end;
};

static bool of_engine(enum ur_fault_action action)
{
	return action < UR_FAULT_REG_ENOMEM;
}

/* ---- rules that keep the port down ---- */

static void set_down(struct ur_device *dev, bool down)
{
	bool was = ur_device_port_active(dev);

	dev->faults_down += down ? 1u : -1u;
	ur_netdev_port_changed(dev, was);
}

static void end(struct ur_fault *f)
{
	for (u32 i = 0; i < UR_ARRAY_SIZE(f->engine); i++)
		if (f->engine[i])
			ur_engine_fault_del(f->dev->engine, f->engine[i]);
	if (f->rule.action == UR_FAULT_LINK_DOWN) {
		ur_loop_timer_clear(f->dev->daemon->loop, &f->end);
		set_down(f->dev, false);
	}
	ur_list_del(&f->node);
	free(f);
}

static void time_is_over(void *arg)
{
	end(arg);
}

static int begin_down(struct ur_fault *f)
{
	struct ur_fault_rule lost = {.action = UR_FAULT_DROP,
				     .prob = 1ull << 32};
	int err;

	for (u32 i = 0; i < 2; i++) {
		lost.in = i;
		err = ur_engine_fault_add(f->dev->engine, &lost, &f->engine[i]);
		if (err && i)
			ur_engine_fault_del(f->dev->engine, f->engine[0]);
		if (err)
			return err;
	}
	f->end.fn = time_is_over;
	f->end.arg = f;
	if (f->rule.value)
		ur_loop_timer_set(f->dev->daemon->loop, &f->end,
				  ur_loop_now() + f->rule.value * 1000000);
	set_down(f->dev, true);
	return 0;
}

/* ---- rules that act at once ---- */

/* Removes and recreates the device: to its programs the card fails and is reset. */
static int device_fatal(struct ur_device *dev)
{
	char name[UR_DEVICE_NAME_MAX], netdev[IF_NAMESIZE];
	struct ur_daemon *daemon = dev->daemon;
	int numa_node = dev->numa_node;

	memcpy(name, dev->name, sizeof(name));
	memcpy(netdev, dev->netdev, sizeof(netdev));
	ur_device_remove(dev);
	return ur_device_create(daemon, netdev, name, numa_node);
}

static int at_once(struct ur_device *dev, enum ur_fault_action action)
{
	switch (action) {
	case UR_FAULT_DEVICE_FATAL:
		return device_fatal(dev);
	case UR_FAULT_PORT_ERROR:
		ur_device_event(dev, 1, UR_EVENT_PORT_ERR);
		ur_device_event(dev, 1, UR_EVENT_PORT_ACTIVE);
		return 0;
	default:
		ur_device_event(dev, 1, UR_EVENT_GID_CHANGE);
		return 0;
	}
}

static bool is_at_once(enum ur_fault_action action)
{
	return action >= UR_FAULT_GID_CHANGE;
}

/* ---- the list ---- */

static struct ur_fault *by_id(struct ur_daemon *daemon, u32 id)
{
	ur_list_each(struct ur_fault, f, &daemon->faults, node) {
		if (f->id == id)
			return f;
	}
	return NULL;
}

static u32 count_of(const struct ur_device *dev)
{
	u32 n = 0;

	ur_list_for_each(it, &dev->daemon->faults)
		n += ur_list_entry(it, struct ur_fault, node)->dev == dev;
	return n;
}

static u32 new_id(struct ur_daemon *daemon)
{
	u32 id = 1;

	while (by_id(daemon, id))
		id++;
	return id;
}

/* Returns the number, or -errno. */
static int add_rule(struct ur_device *dev, const char *text,
		    const struct ur_fault_rule *rule)
{
	struct ur_fault *f;
	int err = 0;

	if (is_at_once(rule->action))
		return at_once(dev, rule->action);
	if (count_of(dev) >= UR_MAX_FAULTS)
		return -ENOSPC;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->dev = dev;
	f->rule = *rule;
	snprintf(f->text, sizeof(f->text), "%s", text);
	ur_fault_begin(&f->state, rule);
	if (of_engine(rule->action))
		err = ur_engine_fault_add(dev->engine, rule, &f->engine[0]);
	else if (rule->action == UR_FAULT_LINK_DOWN)
		err = begin_down(f);
	if (err) {
		free(f);
		return err;
	}
	f->id = new_id(dev->daemon);
	ur_list_add_tail(&dev->daemon->faults, &f->node);
	return (int)f->id;
}

bool ur_fault_of_device(struct ur_device *dev, enum ur_fault_action action,
			u64 *value)
{
	ur_list_each(struct ur_fault, f, &dev->daemon->faults, node) {
		if (f->dev != dev || f->rule.action != action ||
		    !ur_fault_strikes(&f->state, &f->rule))
			continue;
		*value = f->rule.value;
		return true;
	}
	return false;
}

static void end_some(struct ur_daemon *daemon, const struct ur_device *dev)
{
	struct ur_list *it = daemon->faults.next, *next;

	for (; it != &daemon->faults; it = next) {
		struct ur_fault *f = ur_list_entry(it, struct ur_fault, node);

		next = it->next;
		if (!dev || f->dev == dev)
			end(f);
	}
}

static void changed(struct ur_device *dev, enum ur_device_change change)
{
	if (change == UR_DEVICE_GONE)
		end_some(dev->daemon, dev);
}

void ur_fault_watch(struct ur_daemon *daemon)
{
	static struct ur_device_watcher watcher = {.changed = changed};

	ur_device_watch(daemon, &watcher);
}

/* ---- commands ---- */

/* Parses "dev=NAME RULE" or "RULE": returns the device and moves *text to the rule. NULL:
 * no such device, or none named among several. */
static struct ur_device *device_of(struct ur_daemon *daemon, const char **text)
{
	char name[UR_DEVICE_NAME_MAX];
	struct ur_list *first = daemon->devices.next;
	size_t n;

	if (strncmp(*text, "dev=", 4))
		return first != &daemon->devices &&
				       first->next == &daemon->devices
			       ? ur_list_entry(first, struct ur_device, node)
			       : NULL;
	*text += 4;
	n = strcspn(*text, " ");
	if (n >= sizeof(name))
		return NULL;
	memcpy(name, *text, n);
	name[n] = '\0';
	*text += n + strspn(*text + n, " ");
	return ur_device_by_name(daemon, name);
}

static int parse(const char *text, struct ur_fault_rule *rule, char *why,
		 size_t size)
{
	const char *reason, *word;
	int err = ur_fault_parse(text, rule, &reason, &word);

	if (err && *word)
		snprintf(why, size, "'%.*s' %s", (int)strcspn(word, " "), word,
			 reason);
	else if (err)
		snprintf(why, size, "%s", reason);
	return err;
}

static int add_command(struct ur_session *s, char *why)
{
	struct ur_fault_rule rule;
	struct ur_device *dev;
	char buf[UR_FAULT_TEXT];
	const char *text = buf;
	int ret;

	if (s->window_len >= sizeof(buf)) {
		snprintf(why, UROCE_TUN_NAME_MAX, "the rule is too long");
		return -EINVAL;
	}
	memcpy(buf, s->window, s->window_len);
	buf[s->window_len] = '\0';
	dev = device_of(s->daemon, &text);
	if (!dev)
		return -ENODEV;
	ret = parse(text, &rule, why, UROCE_TUN_NAME_MAX);
	if (ret)
		return ret;
	ret = add_rule(dev, text, &rule);
	if (ret >= 0)
		ur_log("%s: fault '%s' by process %d (%s)",
		       dev->gone ? "the device" : dev->name, text, (int)s->pid,
		       s->comm);
	return ret;
}

int ur_fault_command(struct ur_session *s, const struct uroce_tun_msg *msg,
		     char *why)
{
	struct ur_fault *f;

	if (!ur_is_administrator(s))
		return -EPERM;
	switch (msg->fault.what) {
	case UROCE_TUN_FAULT_ADD:
		return add_command(s, why);
	case UROCE_TUN_FAULT_DEL:
		if (!msg->fault.id) {
			end_some(s->daemon, NULL);
			return 0;
		}
		f = msg->fault.id > UINT32_MAX
			    ? NULL
			    : by_id(s->daemon, (u32)msg->fault.id);
		if (!f)
			return -ENOENT;
		end(f);
		return 0;
	default:
		return -EINVAL;
	}
}

int ur_fault_add_option(struct ur_daemon *daemon, const char *text)
{
	bool all = strncmp(text, "dev=", 4) != 0;
	struct ur_device *named = all ? NULL : device_of(daemon, &text);
	struct ur_fault_rule rule;
	char why[UR_FAULT_TEXT];
	int ret;

	if (strlen(text) >= UR_FAULT_TEXT || (!all && !named)) {
		fprintf(stderr,
			"uroced: --fault: no such device, or too long\n");
		return -EINVAL;
	}
	if (parse(text, &rule, why, sizeof(why))) {
		fprintf(stderr, "uroced: --fault: %s\n", why);
		return -EINVAL;
	}
	ur_list_each(struct ur_device, dev, &daemon->devices, node) {
		if (!all && dev != named)
			continue;
		/* A rule that acts at once is useless before there are clients. */
		ret = is_at_once(rule.action) ? -EINVAL
					      : add_rule(dev, text, &rule);
		if (ret < 0) {
			fprintf(stderr, "uroced: --fault '%s': %s\n", text,
				strerror(-ret));
			return ret;
		}
	}
	return 0;
}

/* ---- status ---- */

bool ur_status_next_fault(struct ur_listing *w, struct json_object **o)
{
	struct ur_fault *f = NULL;
	u64 matched, done;

	/* The list is not sorted by number, since numbers are reused. */
	ur_list_each(struct ur_fault, next, &w->daemon->faults, node) {
		if (next->id > w->last && (!f || next->id < f->id))
			f = next;
	}
	if (!f)
		return false;
	w->last = f->id;
	matched = f->state.matched;
	done = f->state.done;
	if (of_engine(f->rule.action))
		ur_efault_counts(f->engine[0], &matched, &done);
	*o = ur_json_object();
	ur_json_int(*o, "id", f->id);
	ur_json_text(*o, "device", f->dev->name);
	ur_json_text(*o, "rule", f->text);
	ur_json_int(*o, "matched", matched);
	ur_json_int(*o, "done", done);
	return true;
}
