/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Fault rules for engines in programs: uroced shows the rules with the settings
 * (lend_settings.h), and programs count in the memory that their counters are in. The
 * program may write there whatever it likes: a rule's counts never fall by it. Control, but for
 * the program's side.
 */
#ifndef UR_ENGINE_GRANT_LEND_FAULTS_H
#define UR_ENGINE_GRANT_LEND_FAULTS_H

#include "engine/fault_rule.h"

struct ur_engine;
struct ur_lent_fault;
struct ur_lent_rule;
struct ur_counter_page;

/* ---- the device ---- */

/* Puts the rule, which is copied, among those that programs are shown with the next settings.
 * Returns 0, -ENOMEM or -ENOSPC. */
int ur_faults_lend(struct ur_engine *engine, const struct ur_fault_rule *rule,
		   struct ur_lent_fault **fault);
/* Ends that, with the next settings; NULL is fine. */
void ur_faults_lend_del(struct ur_lent_fault *fault);
/* Ends all. */
void ur_faults_lend_fini(struct ur_engine *engine);
/* Adds the counts of programs, those that have ended too. */
void ur_faults_lent_counts(struct ur_lent_fault *fault, u64 *matched,
			   u64 *done);
/* The program in the slot has ended; its memory is still there. */
void ur_faults_lend_end(struct ur_engine *engine, u32 slot);
/* Fills UR_LENT_FAULTS rules, with what programs have counted for each by now. */
void ur_faults_lent_rules(struct ur_engine *engine, struct ur_lent_rule *rules);

/* ---- the program ---- */

/* Shows the counts of the rule in that place, which have begun at 0 with a new one. Engine
 * thread. */
void ur_faults_show_new(struct ur_counter_page *page, u32 place, u64 id);
void ur_faults_show(struct ur_counter_page *page, u32 place, u64 matched,
		    u64 done);

#endif
