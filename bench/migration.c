/* SPDX-License-Identifier: Apache-2.0 */
/*
 * migration.c - the cost of migrating elements between two PEs of a host, compared with memcpy() in
 * the same run.
 *
 * All ELEMENTS elements of an array move from one PE to the other and back; each move of all of
 * them is a batch.  An element has 4 KB of data.  Rows (the best batch of each):
 *
 *   memcpy   copy_GBps           one PE copies as many blocks of 4 KB, one by one
 *   pack     move_GBps, move_us  a class with a `pup` function that names only fields
 *   plain    move_GBps, move_us  a class with skua_pup_plain: by pointer where that is possible
 *   pointer  move_GBps, move_us  a class that is SKUA_CLASS_BY_POINTER: neither packed nor copied
 *   empty    move_us             elements without data: the cost of a migration apart from its data
 *   owned    move_GBps, move_us  a class whose objects own their data: packed and unpacked
 *
 * Each row is a series and its metrics: data a second, counted once, and the time of an element.
 *
 * Run it on two PEs: as processes, `skuarun -n 2 bench-migration`, or as threads.
 *
 * usage: bench-migration [SERIES]
 */
#include <skua/skua.h>

#include "bench.h"

#define BENCH    "migration"
#define ELEMENTS 10000
#define BYTES    4096

struct element {
    int  steps;
    char data[BYTES];
};

/* An element whose data are not in the object. */
struct owner {
    char *data;
};

enum { OWNED, PACKED, PLAIN, POINTER, EMPTY, KINDS };

static skua_class   classes[KINDS];
static skua_entry   move_entry[KINDS];
static skua_handler arrived_handler;

/* The state of each PE. */
static _Thread_local struct {
    BENCH_APART int arrived;
    bool            over;
} at;

static void element_pup(skua_pup *p, void *self)
{
    struct element *e = self;

    skua_pup_value(p, &e->steps);
    skua_pup_value(p, &e->data);
}

static void owner_construct(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    ((struct owner *)self)->data = calloc(1, BYTES);
}

static void owner_destroy(void *self)
{
    free(((struct owner *)self)->data);
}

static void owner_pup(skua_pup *p, void *self)
{
    skua_pup_memory(p, &((struct owner *)self)->data, BYTES);
}

static void element_move(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_migrate(self, 1 - skua_pe());
}

/* The last arrival notifies PE 0. */
static void element_moved(void *self)
{
    (void)self;
    if (++at.arrived % ELEMENTS == 0)
        skua_send_copy(0, arrived_handler, NULL, 0);
}

static void on_arrived(skua_msg *msg)
{
    skua_msg_free(msg);
    at.over = true;
}

static bool is_over(void *arg)
{
    (void)arg;
    return at.over;
}

/* Migrates all elements to the other PE, and waits until they have arrived. */
static double move_all(int kind, skua_collection all)
{
    double start = bench_now();

    at.over = false;
    skua_invoke_all(all, move_entry[kind], NULL, 0);
    skua_run_until(is_over, NULL);
    return bench_now() - start;
}

static int on_first_pe(const skua_index *index, const skua_range *range, const int32_t *arg)
{
    (void)index, (void)range, (void)arg;
    return 0;
}

static uint32_t first_pe; /* maps all elements to one PE */

static double best_move(int kind)
{
    skua_array_def  def  = {.size  = sizeof def,
                            .dims  = 1,
                            .range = {.dims = 1, .upper = {ELEMENTS}},
                            .map   = {.kind = first_pe}};
    skua_collection all  = skua_array_create(classes[kind], &def, NULL, 0);
    double          best = 0;

    for (int batch = 0; batch < 2 * BENCH_BATCHES; batch++) {
        double time = move_all(kind, all);

        if (best == 0 || time < best)
            best = time;
    }
    skua_collection_destroy(all);
    return best;
}

/* Returns the best time of copying the data of all elements, from blocks to blocks. */
static double best_copy(void)
{
    size_t bytes = (size_t)ELEMENTS * BYTES;
    char  *from = malloc(bytes), *to = malloc(bytes);
    double best = 0;

    memset(from, 1, bytes);
    memset(to, 2, bytes);
    for (int batch = 0; batch < BENCH_BATCHES; batch++) {
        double start = bench_now(), time;

        for (size_t i = 0; i < bytes; i += BYTES)
            memcpy(to + i, from + i, BYTES);
        time = bench_now() - start;
        if (best == 0 || time < best)
            best = time;
    }
    if (bench_read(to, bytes) == 0)
        skua_abort("memcpy() has not copied");
    free(from);
    free(to);
    return best;
}

static void measure_move(const char *wanted, const char *series, int kind, size_t bytes)
{
    double time;

    if (wanted && strcmp(wanted, series) != 0)
        return;
    time = best_move(kind);
    if (bytes)
        bench_report(BENCH, series, bytes, "move_GBps", 1e-9 * (double)(ELEMENTS * bytes) / time);
    bench_report(BENCH, series, bytes, "move_us", time / ELEMENTS * 1e6);
}

static void start(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : NULL;

    if (skua_pe() != 0)
        return;
    if (skua_pes() != 2)
        skua_abort("bench-migration measures two PEs");
    if (!wanted)
        bench_report(BENCH, "memcpy", BYTES, "copy_GBps", 1e-9 * ELEMENTS * BYTES / best_copy());
    measure_move(wanted, "pack", PACKED, BYTES);
    measure_move(wanted, "plain", PLAIN, BYTES);
    measure_move(wanted, "pointer", POINTER, BYTES);
    measure_move(wanted, "empty", EMPTY, 0);
    measure_move(wanted, "owned", OWNED, BYTES);
    skua_exit(0);
}

int main(int argc, char **argv)
{
    static const skua_class_def def[KINDS] = {{.name      = "owned",
                                               .bytes     = sizeof(struct owner),
                                               .construct = owner_construct,
                                               .destroy   = owner_destroy,
                                               .pup       = owner_pup,
                                               .moved     = element_moved},
                                              {.name  = "packed",
                                               .bytes = sizeof(struct element),
                                               .pup   = element_pup,
                                               .moved = element_moved},
                                              {.name  = "plain",
                                               .bytes = sizeof(struct element),
                                               .pup   = skua_pup_plain,
                                               .moved = element_moved},
                                              {.name  = "pointer",
                                               .bytes = sizeof(struct element),
                                               .pup   = element_pup,
                                               .flags = SKUA_CLASS_BY_POINTER,
                                               .moved = element_moved},
                                              {.name = "empty", .moved = element_moved}};

    for (int kind = 0; kind < KINDS; kind++) {
        classes[kind]    = skua_class_register(&def[kind]);
        move_entry[kind] = skua_method_register(classes[kind], "move", element_move, 0);
    }
    arrived_handler = skua_handler_register("arrived", on_arrived);
    first_pe        = skua_map_register("first-pe", on_first_pe);
    return skua_main(argc, argv, start);
}
