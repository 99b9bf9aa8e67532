// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Settings of the device for engines in programs: both sides. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/keep.h"
#include "engine/grant/program_faults.h"
#include "engine/grant/program_settings.h"
#include "util/os/map_shared.h"

#define WORDS	     ((sizeof(struct ur_program_settings) + 7) / 8)
#define CLASS_PLACES 8u /* possible places of a number's class */
#define RULE_STEP    (sizeof(struct ur_program_rule) / 8) /* the id comes first */
#define RULE_WORDS   (UR_PROGRAM_FAULTS * RULE_STEP)

/* The generation is odd while the settings change. */
struct ur_settings_page {
	_Atomic u32 generation;
	u32 rsv;
	_Atomic u64 word[WORDS];
	_Atomic u64 rule[RULE_WORDS];
	struct ur_program_gids gids;
	_Atomic u32 room[UR_SLOTS]; /* KiB */
	/* Lower bits: queue pair number; above: class and hop limit. One word, so always consistent. */
	_Atomic u64 class[UR_SLOTS][UR_PROGRAM_CLASSES];
};

_Static_assert(!(sizeof(struct ur_program_rule) & 7) &&
		       !offsetof(struct ur_program_rule, id),
	       "whole words");

union page_text {
	struct ur_program_settings settings;
	u64 word[WORDS];
};

/* ---- the device ---- */

static struct ur_kept name_of(const struct ur_engine *e)
{
	return (struct ur_kept){.kind = UR_KEPT_SETTINGS,
				.device = e->local_device};
}

/* Stores the memory, and opens the read-only descriptor for programs. Closes fd; after an error unmaps page. */
static int share(struct ur_engine *e, int fd, void *page)
{
	const struct ur_kept what = name_of(e);
	int err = ur_keep_put(&what, fd);

	if (!err)
		e->settings_fd = err = ur_open_to_read(fd);
	close(fd);
	if (err < 0) {
		munmap(page, sizeof(*e->settings));
		return err;
	}
	e->settings = page;
	return 0;
}

static int make_page(struct ur_engine *e)
{
	void *p;
	int fd, err = ur_make_shared("uroce-settings", sizeof(*e->settings),
				     PROT_READ | PROT_WRITE,
				     F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL,
				     &fd, &p);

	if (!err)
		err = share(e, fd, p);
	if (err)
		return err;
	for (u32 i = 0; i < UR_ENGINE_GIDS; i++)
		ur_settings_show_gid(e, i);
	return 0;
}

/* Continues the inherited numbers by which programs notice changes. */
static void go_on(struct ur_engine *e)
{
	const struct ur_settings_page *page = e->settings;
	union page_text before;
	u64 word;

	for (u32 i = 0; i < WORDS; i++)
		before.word[i] = atomic_load(&page->word[i]);
	e->shown_classes = before.settings.classes;
	e->shown_record_run = before.settings.record_run;
	for (u32 i = 0; i < UR_PROGRAM_FAULTS; i++) {
		word = atomic_load(&page->rule[i * RULE_STEP]);
		if (word > e->last_program_fault)
			e->last_program_fault = word;
	}
}

int ur_settings_inherit(struct ur_engine *e)
{
	struct ur_kept what = name_of(e);
	int fd = ur_keep_take(&what), err;
	void *p;

	if (fd < 0)
		return -ENOENT;
	err = ur_map_shared(fd, sizeof(*e->settings), PROT_READ | PROT_WRITE,
			    &p);
	if (err)
		close(fd);
	else
		err = share(e, fd, p);
	if (err) {
		ur_keep_drop(&what);
		return err;
	}
	e->inherits = true;
	go_on(e);
	return 0;
}

int ur_settings_gid_at(const struct ur_engine *e, const u8 gid[16])
{
	for (u32 i = 0; e->settings && i < UR_ENGINE_GIDS; i++)
		if (ur_program_gids_has(&e->settings->gids, i, gid))
			return (int)i;
	return -1;
}

void ur_settings_recovery_done(struct ur_engine *e)
{
	e->inherits = false;
	for (u32 i = 0; e->settings && i < UR_ENGINE_GIDS; i++)
		if (!e->gids[i].used)
			ur_settings_show_gid(e, i);
	ur_settings_show(e);
}

int ur_settings_grant(struct ur_engine *engine, int *fd)
{
	int err = engine->settings ? 0 : make_page(engine);

	if (err)
		return err;
	ur_settings_show(engine);
	*fd = engine->settings_fd;
	return 0;
}

/* Until recovery is complete the settings of an earlier uroced stay. */
void ur_settings_show(struct ur_engine *engine)
{
	struct ur_settings_page *page = engine->settings;
	union page_text now = {
		.settings = {.cc = engine->shown_cc,
			     .ecn = engine->shown_ecn,
			     .mtu_bytes = engine->shown_mtu,
			     .record_run = engine->shown_record_run,
			     .record_kib = engine->shown_record_kib,
			     .classes = engine->shown_classes}};
	struct ur_program_rule rules[UR_PROGRAM_FAULTS];
	u32 generation;
	u64 word;

	if (!page || engine->inherits)
		return;
	memset(rules, 0, sizeof(rules));
	ur_program_fault_rules(engine, rules);
	/* Odd already where a uroced was killed meanwhile. */
	generation = atomic_load(&page->generation) & ~1u;
	atomic_store(&page->generation, generation + 1);
	for (u32 i = 0; i < WORDS; i++)
		atomic_store(&page->word[i], now.word[i]);
	for (u32 i = 0; i < RULE_WORDS; i++) {
		memcpy(&word, (const u8 *)rules + (size_t)i * 8, sizeof(word));
		atomic_store(&page->rule[i], word);
	}
	atomic_store(&page->generation, generation + 2);
}

void ur_settings_show_gid(struct ur_engine *engine, u32 index)
{
	const struct ur_egid *g = &engine->gids[index];
	bool used = g->used && g->type != UR_GID_ROCE_V1;

	if (engine->settings)
		ur_program_gids_set(&engine->settings->gids, index,
				    used ? g->gid : NULL);
}

/* Returns the place of the number, else a free one, or NULL. */
static _Atomic u64 *class_of(struct ur_engine *engine, u32 qpn)
{
	u32 slot = ur_slot_of(qpn);
	_Atomic u64 *free_one = NULL;

	if (!engine->settings || slot >= UR_SLOTS)
		return NULL;
	for (u32 i = 0; i < CLASS_PLACES; i++) {
		_Atomic u64 *at =
			&engine->settings
				 ->class[slot][(qpn + i) % UR_PROGRAM_CLASSES];

		if ((u32)atomic_load(at) == qpn)
			return at;
		if (!free_one && !atomic_load(at))
			free_one = at;
	}
	return free_one;
}

void ur_engine_put_class(struct ur_engine *engine, u32 qpn, u8 traffic_class,
			 u8 hop_limit)
{
	_Atomic u64 *at = class_of(engine, qpn);

	if (at)
		atomic_store(at, qpn | (u64)traffic_class << 32 |
					 (u64)hop_limit << 40);
}

void ur_engine_forget_class(struct ur_engine *engine, u32 qpn)
{
	_Atomic u64 *at = class_of(engine, qpn);

	if (at)
		atomic_store(at, 0);
}

void ur_engine_set_ring_room(struct ur_engine *engine, u32 slot, u32 kib)
{
	if (engine->settings && slot < UR_SLOTS)
		atomic_store(&engine->settings->room[slot], kib);
}

u32 ur_engine_ring_room_of(const struct ur_engine *engine, u32 slot)
{
	return ur_settings_room(engine->settings, slot);
}

void ur_engine_show_classes(struct ur_engine *engine)
{
	engine->shown_classes++;
	ur_settings_show(engine);
}

void ur_settings_grant_fini(struct ur_engine *engine)
{
	if (!engine->settings)
		return;
	munmap(engine->settings, sizeof(*engine->settings));
	close(engine->settings_fd);
	engine->settings = NULL;
}

/* ---- the program ---- */

int ur_settings_map(int fd, const struct ur_settings_page **page)
{
	void *p;
	int err = ur_map_shared(fd, sizeof(**page), PROT_READ, &p);

	if (!err)
		*page = p;
	return err;
}

const struct ur_program_gids *
ur_settings_gids(const struct ur_settings_page *page)
{
	return &page->gids;
}

u32 ur_settings_room(const struct ur_settings_page *page, u32 slot)
{
	return page && slot < UR_SLOTS ? atomic_load(&page->room[slot]) : 0;
}

void ur_settings_unmap(const struct ur_settings_page *page)
{
	if (page)
		munmap((void *)(uintptr_t)page, sizeof(*page));
}

bool ur_settings_changed(const struct ur_settings_page *page, u32 seen)
{
	return atomic_load_explicit(&page->generation, memory_order_relaxed) !=
	       seen;
}

bool ur_settings_read(const struct ur_settings_page *page, u32 *seen,
		      struct ur_program_settings *settings)
{
	u32 generation = atomic_load(&page->generation);
	union page_text now;

	if (generation == *seen || (generation & 1))
		return false;
	for (u32 i = 0; i < WORDS; i++)
		now.word[i] = atomic_load(&page->word[i]);
	/* The settings are changing again: the next turn retries. */
	if (atomic_load(&page->generation) != generation)
		return false;
	*seen = generation;
	*settings = now.settings;
	return true;
}

bool ur_settings_read_rules(const struct ur_settings_page *page, u32 seen,
			    struct ur_program_rule *rules)
{
	for (u32 i = 0; i < RULE_WORDS; i++) {
		u64 word = atomic_load(&page->rule[i]);

		memcpy((u8 *)rules + (size_t)i * 8, &word, sizeof(word));
	}
	return atomic_load(&page->generation) == seen;
}

bool ur_settings_read_class(const struct ur_settings_page *page, u32 slot,
			    u32 place, struct ur_program_class *c)
{
	u64 word = atomic_load(&page->class[slot][place]);

	c->qpn = (u32)word;
	c->traffic_class = (u8)(word >> 32);
	c->hop_limit = (u8)(word >> 40);
	return word;
}
