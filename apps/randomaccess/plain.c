/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain.c - the rate of random updates of a large table, without the translator.
 *
 * The rules are those of HPC Challenge.  A table T of 2^m words, T[i] = i, is distributed over all
 * PEs.  Each PE generates a part of a sequence of 4 * 2^m pseudo-random numbers (sequence.h). A
 * number `a` stands for the update T[a mod 2^m] ^= a, and is sent to the PE that has that word. A
 * PE generates at most 1024 numbers ahead of their updates.  Since ^ is its own inverse, repeating
 * all updates must restore T[i] = i.
 *
 * The updaters are a group, one on each PE.  Numbers pass through a stream (skua/stream.h), eight
 * bytes each.  An updater generates some numbers and then sends itself a message to generate more,
 * so that the scheduler handles arrived messages in between.  When no message is in flight, all
 * updates are done: quiescence detection notifies PE 0.
 */
#include <skua/skua.h>
#include <string.h>

#include "report.h"
#include "sequence.h"

struct updater {
    struct table table;       /* the words of this PE */
    uint64_t     a;           /* the number generated last                       */
    uint64_t     made, total; /* numbers generated so far, and in all        */
    uint64_t     steps, most; /* most: number of steps, equal on all PEs    */
    uint64_t     laps;        /* completed by all PEs                       */
    bool         waiting;     /* for the other PEs, before the next lap     */
    double       shown;       /* time at which progress was last shown               */
};

static struct randomaccess_options options; /* read-only: set on PE 0 and sent to all PEs */
static skua_stream                 updates;
static skua_class                  updater_class;
static skua_entry                  update_entry, step_entry, lap_entry, count_entry;
static skua_collection             updaters; /* used on PE 0, like the next variable */
static double                      started, seconds;

/* The constructor of an updater. */
static void construct(void *self, const void *data, size_t none)
{
    struct updater *u = self;

    (void)data, (void)none;
    skua_stream_bind(updates, u);
    u->table = table_create(options.log2);
    u->total = PER_WORD * (u->table.end - u->table.first);
    u->most =
        (PER_WORD * ((u->table.mask + 1) / (uint64_t)skua_pes() + 1) / (STEP * LAP) + 1) * LAP;
}

/* ---- updates ------------------------------------------------------------------------- */

static void apply(void *arg, const void *items, size_t count)
{
    table_update(&((struct updater *)arg)->table, items, count);
}

/* Generates the next numbers of this PE's part of the sequence. */
static void make_numbers(struct updater *u, uint64_t count)
{
    skua_stream stream = updates; /* local copies: the compiler knows that they do not change */
    uint64_t    mask = u->table.mask, pes = (uint64_t)skua_pes(), a = u->a;
    int         log2 = options.log2;

    for (uint64_t i = 0; i < count; i++) {
        a = sequence_next(a);
        skua_stream_put(stream, table_owner(a & mask, pes, log2), &a);
    }
    u->a = a;
    u->made += count;
}

/* ---- entries -------------------------------------------------------------------------- */

static void send_step(struct updater *u)
{
    skua_invoke_copy(skua_ref_of(u), step_entry, NULL, 0);
}

/* Performs all updates once. */
static void on_update(void *self, const void *data, size_t bytes)
{
    struct updater *u = self;

    (void)data, (void)bytes;
    u->a     = sequence_at(PER_WORD * u->table.first);
    u->made  = 0;
    u->steps = 0;
    u->laps  = 0;
    u->shown = skua_time();
    send_step(u);
}

/* Generates some more numbers. No PE gets more than a lap ahead of the others: numbers that wait
 * for a slower PE would be evicted from its cache and slow it down further. */
static void on_step(void *self, const void *data, size_t bytes)
{
    struct updater *u    = self;
    uint64_t        left = u->total - u->made;

    (void)data, (void)bytes;
    make_numbers(u, left < STEP ? left : STEP);
    if (++u->steps % LAP == 0) {
        report_progress(&u->shown, u->made, u->total);
        skua_contribute_nothing(u, skua_done_invoke_all(skua_collection_of(u), lap_entry));
        u->waiting = u->steps / LAP > u->laps + 1;
    }
    if (!u->waiting && u->steps < u->most)
        send_step(u);
}

/* Callback: all PEs have completed a lap. */
static void on_lap(void *self, const void *data, size_t bytes)
{
    struct updater *u = self;

    (void)data, (void)bytes;
    u->laps++;
    if (u->waiting && u->steps < u->most)
        send_step(u);
    u->waiting = false;
}

static void on_count(void *self, const void *data, size_t bytes)
{
    uint64_t        errors = table_errors(&((struct updater *)self)->table);
    skua_completion to;

    if (bytes == sizeof to) {
        memcpy(&to, data, sizeof to);
        skua_contribute(self, SKUA_SUM, SKUA_UINT64, &errors, 1, to);
    }
}

/* ---- the program, on PE 0 --------------------------------------------------------------- */

/* Performs all updates and calls @p then after the last one. */
static void update(skua_done_fn then)
{
    started = skua_time();
    skua_invoke_all(updaters, update_entry, NULL, 0);
    skua_quiescence(skua_done_call(then, NULL));
}

static void counted(void *arg, const void *data, size_t bytes)
{
    uint64_t errors = 1;

    (void)arg;
    if (bytes == sizeof errors)
        memcpy(&errors, data, sizeof errors);
    report_result(&options, errors, seconds);
}

static void on_undone(void *arg, const void *data, size_t bytes)
{
    skua_completion to = skua_done_call(counted, NULL);

    (void)arg, (void)data, (void)bytes;
    seconds = skua_time() - started;
    skua_invoke_all(updaters, count_entry, &to, sizeof to);
}

static void on_done(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    seconds = skua_time() - started;
    report_rate(&options, seconds);
    if (options.verify)
        update(on_undone);
    else
        report_result(&options, 0, 0);
}

static void ready(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    update(on_done);
}

static void begin(int argc, char **argv)
{
    if (!options_read(&options, argc, argv))
        return;
    updaters = skua_group_create(updater_class, NULL, 0);
    skua_quiescence(skua_done_call(ready, NULL));
}

int main(int argc, char **argv)
{
    static const skua_class_def class = {
        .name = "updater", .bytes = sizeof(struct updater), .construct = construct};
    static const skua_stream_def stream = {
        .item_bytes = sizeof(uint64_t), .batch = apply, .buffer = STEP};

    updater_class = skua_class_register(&class);
    update_entry  = skua_method_register(updater_class, "update", on_update, 0);
    step_entry    = skua_method_register(updater_class, "step", on_step, 0);
    lap_entry     = skua_method_register(updater_class, "lap", on_lap, 0);
    count_entry   = skua_method_register(updater_class, "count", on_count, 0);
    updates       = skua_stream_register("updates", &stream);
    skua_readonly_register("options", &options, sizeof options);
    return skua_program(argc, argv, begin);
}
