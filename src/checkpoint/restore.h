/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore.h - a job that continues from the images of another one.
 *
 * The PE that reads the image of PE 0, PE 0 if images are in files, broadcasts its common parts.
 * Each PE defines the collections, and reads the images of some former PEs (ski_former_pe()): of
 * files PE p those of p, p + P, p + 2 P ..., of images in memory those that its host has and the
 * launcher has assigned to it.  All images are read, each once.  A PE sends every record to the PE
 * that it belongs to now.  At quiescence all of them have arrived, and PE 0 orders all PEs to
 * resume: collections exist, reductions continue, hooks of the program and `moved` of its classes
 * are called.  When all have done so, PE 0 performs the completion of the checkpoint.
 *
 * Before that, no code of the program runs except `pup`, and no message of the program is sent:
 * messages to a collection that does not exist on a PE yet wait there.  Once a PE resumes, the
 * homes of all elements know where these are.
 *
 * Where an element goes: to the PE of the same number if the job has as many PEs as before, so the
 * balance of loads is kept; else to its home.  Member i of a group is made of member i modulo the
 * former number of PEs.
 */
#ifndef SKI_RESTORE_H
#define SKI_RESTORE_H

#include <stdbool.h>

#include <skua/message.h>

/** Returns whether this job is to be restarted from a checkpoint, by its settings. */
bool ski_restore_wanted(void);

/** Returns whether there may be such a checkpoint: this process has images if it is to be restarted
 * from memory. */
bool ski_restore_possible(void);

/** The start function of each PE of a job that is restarted, in place of the program's. */
void ski_restore_start(int argc, char **argv);

/** Handler: the common parts, or the order to resume. */
void ski_on_restore_step(skua_msg *msg);

/** Handler: a record. */
void ski_on_restore_record(skua_msg *msg);

/** Handler, at PE 0: a PE has resumed. */
void ski_on_restore_report(skua_msg *msg);

#define SKI_RESTORE_STEP_MIN   8
#define SKI_RESTORE_RECORD_MIN 8
#define SKI_RESTORE_REPORT_MIN 8

#endif
