/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint_refused.c - a checkpoint is refused, with the name of the cause, if the program
 * contains something that it cannot store, and the program continues; the hooks of the program are
 * called nevertheless.
 *
 * usage: checkpoint_refused DIR
 *
 * Each case is refused: an object without `pup`; a user thread that waits; a reduction whose result
 * goes to a callback; one of a section; a directory that cannot be made.  The last checkpoint,
 * without an obstacle, is made; after it none is due.
 */
#include <skua/skua.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

enum { WITHOUT_PUP, THREAD, CALLBACK, SECTION, DIRECTORY, NOT_DUE, GOOD, CASES };

static skua_class      rock_class, item_class;
static skua_entry      item_give, item_take, rock_go;
static skua_handler    saved_handler, next_handler;
static skua_collection items;
static skua_section    section;
static skua_ref        rock;
static skua_future     never = SKUA_FUTURE_INIT;
static int             number, before, after;
static char            dir[4000];

struct gift {
    int32_t         which;
    skua_completion done;
};

struct round {
    skua_section section;
    bool         first;
};

static void on_called(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
}

/* One element contributes. */
static void on_give(void *self, const void *data, size_t bytes)
{
    struct gift gift;

    CHECK(bytes == sizeof gift);
    memcpy(&gift, data, sizeof gift);
    if (skua_index_of(self).at.x[0] != gift.which)
        return;
    skua_contribute_nothing(self, gift.done);
}

/* Member 0 of the section contributes alone, or all others do. */
static void on_take(void *self, const void *data, size_t bytes)
{
    struct round round;

    CHECK(bytes == sizeof round);
    memcpy(&round, data, sizeof round);
    if ((skua_index_of(self).at.x[0] == 0) == round.first)
        skua_section_contribute(round.section, self,
                                skua_contribution_make(SKUA_SUM, SKUA_INT32, NULL, 0),
                                skua_done_call(on_called, NULL));
}

static void on_rock(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_object_destroy(self);
}

static void wait_for_ever(void *arg)
{
    (void)arg;
    CHECK(skua_future_wait(&never, NULL));
}

static void start_waiter(void)
{
    skua_thread *waiter = skua_thread_create(wait_for_ever, NULL, 0);

    skua_thread_set_name(waiter, "waiter");
    skua_thread_detach(waiter);
}

static void give(int first, int last)
{
    for (int i = first; i <= last; i++) {
        struct gift gift = {i, skua_done_call(on_called, NULL)};

        skua_invoke_all(items, item_give, &gift, sizeof gift);
    }
}

static void take(bool first)
{
    struct round round = {section, first};

    skua_section_invoke(section, item_take, &round, sizeof round);
}

/* Sets up a case, and requests a checkpoint. */
static void begin_case(void)
{
    const char *to = dir;

    if (number == WITHOUT_PUP)
        rock = skua_chare_create_local(rock_class, NULL, 0);
    if (number == THREAD)
        start_waiter();
    if (number == CALLBACK)
        give(0, 0);
    if (number == SECTION)
        take(true);
    if (number == DIRECTORY)
        to = "/dev/null/there";
    if (number == NOT_DUE)
        skua_checkpoint_if_due(skua_done_send(0, saved_handler));
    else
        skua_checkpoint(to, skua_done_send(0, saved_handler));
}

/* Ends a case, so that it does not affect the next one. */
static void end_case(void)
{
    if (number == WITHOUT_PUP)
        skua_invoke_copy(rock, rock_go, NULL, 0);
    if (number == THREAD)
        skua_future_set(&never, "", 0);
    if (number == CALLBACK)
        give(1, 3);
    number++;
    if (number == SECTION + 1)
        take(false);
    skua_quiescence(skua_done_send(0, next_handler));
}

static void on_saved(skua_msg *msg)
{
    skua_checkpoint_result result;
    bool                   made = number == GOOD;

    CHECK(skua_msg_size(msg) == sizeof result);
    memcpy(&result, skua_msg_data(msg), sizeof result);
    skua_msg_free(msg);
    CHECK(!result.restarted && (result.generation > 0) == made);
    CHECK((result.status == SKUA_OK) == (made || number == NOT_DUE));
    CHECK(before == after && before == number + (number < NOT_DUE));
    end_case();
}

static void on_next(skua_msg *msg)
{
    skua_msg_free(msg);
    if (number == CASES)
        skua_exit(0);
    else
        begin_case();
}

static void count(void *arg)
{
    ++*(int *)arg;
}

static void start(int argc, char **argv)
{
    skua_index all[4];

    CHECK(argc == 2);
    if (skua_pe() != 0)
        return;
    snprintf(dir, sizeof dir, "%s", argv[1]); /* PE 0 makes the checkpoints */
    items = skua_array_create1(item_class, 4, NULL, 0);
    for (int i = 0; i < 4; i++)
        all[i] = skua_index1(i);
    section = skua_section_create(items, all, 4);
    skua_quiescence(skua_done_send(0, next_handler));
}

int main(int argc, char **argv)
{
    skua_class_def rock_def = {.size = sizeof rock_def, .name = "rock", .bytes = 8};
    skua_class_def item_def = {
        .size = sizeof item_def, .name = "item", .bytes = 8, .pup = skua_pup_plain};

    rock_class    = skua_class_register(&rock_def);
    item_class    = skua_class_register(&item_def);
    rock_go       = skua_method_register(rock_class, "go", on_rock, 0);
    item_give     = skua_method_register(item_class, "give", on_give, 0);
    item_take     = skua_method_register(item_class, "take", on_take, 0);
    saved_handler = skua_handler_register("saved", on_saved);
    next_handler  = skua_handler_register("next", on_next);
    skua_checkpoint_hook(SKUA_CHECKPOINT_BEFORE, count, &before);
    skua_checkpoint_hook(SKUA_CHECKPOINT_AFTER, count, &after);
    return skua_main(argc, argv, start);
}
