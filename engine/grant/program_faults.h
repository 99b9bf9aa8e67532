/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Fault rules for engines in programs. uroced publishes the rules with the settings
 * (program_settings.h); programs count in the memory of their counters (program_counters.h). A program
 * may write anything there, but never makes a rule's counts fall. Control, but for the program's
 * side.
 */
#ifndef UR_ENGINE_GRANT_PROGRAM_FAULTS_H
#define UR_ENGINE_GRANT_PROGRAM_FAULTS_H

#include "engine/fault_rule.h"

struct ur_engine;
struct ur_program_fault;
struct ur_program_rule;
struct ur_counter_page;

/* ---- the device ---- */

/* Adds a rule, which is copied, in *fault. The next ur_settings_show() publishes it. Returns 0,
 * -ENOMEM or -ENOSPC. */
int ur_program_fault_add(struct ur_engine *engine,
			 const struct ur_fault_rule *rule,
			 struct ur_program_fault **fault);
/* Removes a rule; the next ur_settings_show() publishes that. fault may be NULL. */
void ur_program_fault_del(struct ur_program_fault *fault);
/* Removes all rules. */
void ur_program_faults_fini(struct ur_engine *engine);
/* Adds the counts of all programs, including ended ones, to *matched and *done. */
void ur_program_fault_counts(struct ur_program_fault *fault, u64 *matched,
			     u64 *done);
/* Keeps the counts of the slot's program, which has ended. Call it before
 * ur_counters_grant_end(). */
void ur_program_faults_end(struct ur_engine *engine, u32 slot);
/* Fills UR_PROGRAM_FAULTS rules, each with the present counts of programs. */
void ur_program_fault_rules(struct ur_engine *engine,
			    struct ur_program_rule *rules);

/* ---- the program ---- */

/* ur_faults_show_new() begins the counts of a new rule in that place at 0; ur_faults_show()
 * publishes its counts. Engine thread. */
void ur_faults_show_new(struct ur_counter_page *page, u32 place, u64 id);
void ur_faults_show(struct ur_counter_page *page, u32 place, u64 matched,
		    u64 done);

#endif
