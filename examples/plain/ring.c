/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.c - a token passes through the elements of an array, of which there are more than PEs.
 *
 * The message itself is the token: each element passes on the message it has received.  In the end
 * a reduction adds the number of visits of all elements.
 *
 * usage: ring [laps] [elements]
 */
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>

struct station {
    int64_t visits;
    double  started; /* on element 0: time at which the token started */
};

static skua_collection ring; /* read-only: set on PE 0 before any entry method runs */
static int             laps = 1000, elements;

static skua_class station_class;
static skua_entry token_entry, count_entry, done_entry;

/* An entry method owns its message; this one passes it on. */
static void on_token(void *self, skua_msg *msg)
{
    struct station *station = self;
    int             index   = skua_index_of(self).at.x[0];

    if (index == 0 && station->visits == 0)
        station->started = skua_time();
    if (index == 0 && station->visits == laps) {
        skua_msg_free(msg);
        skua_invoke_all(ring, count_entry, NULL, 0);
        return;
    }
    station->visits++;
    skua_invoke(skua_element1(ring, (index + 1) % elements), token_entry, msg);
}

/* The sum of all contributions is delivered to the entry method `done` of element 0. */
static void on_count(void *self, const void *data, size_t bytes)
{
    struct station *station = self;

    (void)data, (void)bytes;
    if (skua_index_of(self).at.x[0] == 0)
        station->started = skua_time() - station->started;
    skua_contribute(self, SKUA_SUM, SKUA_INT64, &station->visits, 1,
                    skua_done_invoke(skua_element1(ring, 0), done_entry));
}

static void on_done(void *self, const void *data, size_t bytes)
{
    struct station *station = self;
    int64_t         hops    = *(const int64_t *)data;

    (void)bytes;
    printf("%d laps round %d elements on %d PEs: %lld hops, %.3f us each\n", laps, elements,
           skua_pes(), (long long)hops, 1e6 * station->started / (double)hops);
    skua_exit(hops == (int64_t)laps * elements ? 0 : 1);
}

static void begin(int argc, char **argv) /* runs on PE 0 */
{
    elements = 4 * skua_pes();
    if (argc > 1)
        laps = atoi(argv[1]);
    if (argc > 2)
        elements = atoi(argv[2]);
    if (argc > 3 || laps < 1 || elements < 1) {
        fprintf(stderr, "usage: ring [laps] [elements]\n");
        skua_exit(2);
        return;
    }
    ring = skua_array_create1(station_class, elements, NULL, 0);
    skua_invoke(skua_element1(ring, 0), token_entry, skua_msg_alloc(0));
}

int main(int argc, char **argv)
{
    station_class =
        skua_class_register(&(skua_class_def){.name = "station", .bytes = sizeof(struct station)});
    token_entry = skua_entry_register(station_class, "token", on_token, 0);
    count_entry = skua_method_register(station_class, "count", on_count, 0);
    done_entry  = skua_method_register(station_class, "done", on_done, 0);
    skua_readonly_register("ring", &ring, sizeof ring);
    skua_readonly_register("laps", &laps, sizeof laps);
    skua_readonly_register("elements", &elements, sizeof elements);
    return skua_program(argc, argv, begin);
}
