/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.c - structured control flow as generated code uses it (skua/skuac_flow.h): each construct
 * written by hand, outside of a chare, on PE 0; large numbers of frames and messages; and random
 * programs in objects that migrate (flow_random.c).
 *
 * usage: flow [RANDOM-PROGRAMS [LARGE]]
 */
#include <skua/skuac_flow.h>
#include <skua/skua.h>
#include <string.h>

#include "flow_random.h"
#include "tap.h"

/* ---- a class ------------------------------------------------------------------------------ */

enum { A, B, C, TRIGGERS };

typedef struct {
    char text[256]; /* trace of events */
} Thing;

static void note(Thing *self, const char *what, int value)
{
    size_t used = strlen(self->text);

    snprintf(self->text + used, sizeof self->text - used, "%s%d ", what, value);
}

static int value_of(const skuac_arrival *arrival)
{
    int value;

    CHECK(arrival->bytes >= sizeof value);
    memcpy(&value, arrival->data, sizeof value);
    return value;
}

static const skuac_arrival nothing;

/* for (i = 0; i < 3; i++) when a[i](v) serial { note } */
struct Thing_loop {
    skuac_frame   frame;
    skuac_arrival a;
    skuac_wait    wait[1];
    int           i;
};

static void Thing_loop_go(skuac_frame *frame)
{
    struct Thing_loop *locals = (void *)frame;

    switch (frame->at) {
    case 1: goto at_1;
    default: break;
    }
    for (locals->i = 0; locals->i < 3; locals->i++) {
        skuac_flow_want_reference(frame, 0, A, 0, locals->i);
        if (!skuac_flow_match(frame, 1, 1))
            return;
    at_1:
        locals->a = skuac_flow_got(frame, 0);
        note(frame->self, "a", value_of(&locals->a));
        skuac_flow_drop(&locals->a);
    }
    note(frame->self, "end", 0);
    skuac_flow_end(frame);
}

/* when a(x), a(y), b[7](z) serial { note } */
struct Thing_both {
    skuac_frame   frame;
    skuac_arrival invoked, x, y, z;
    skuac_wait    wait[3];
};

static void Thing_both_go(skuac_frame *frame)
{
    struct Thing_both *locals = (void *)frame;

    if (frame->at == 0) {
        skuac_flow_want(frame, 0, A, 0);
        skuac_flow_want(frame, 1, A, 0);
        skuac_flow_want_reference(frame, 2, B, 0, 7);
        if (!skuac_flow_match(frame, 3, 1))
            return;
    }
    locals->x = skuac_flow_got(frame, 0);
    locals->y = skuac_flow_got(frame, 1);
    locals->z = skuac_flow_got(frame, 2);
    if (locals->invoked.msg)
        note(frame->self, "i", value_of(&locals->invoked));
    note(frame->self, "x", value_of(&locals->x));
    note(frame->self, "y", value_of(&locals->y));
    note(frame->self, "z", value_of(&locals->z));
    skuac_flow_drop(&locals->x);
    skuac_flow_drop(&locals->y);
    skuac_flow_drop(&locals->z);
    skuac_flow_end(frame); /* frees the frame and its argument */
}

/* case { when a(x), b(y) serial { note }  when c[1](z) { serial { inline a(9) } when a(x) } } */
struct Thing_either {
    skuac_frame   frame;
    skuac_arrival x, y, z;
    skuac_wait    wait[3];
};

static const skuac_flow_class Thing_flow;

static void Thing_either_go(skuac_frame *frame)
{
    static const int     nine   = 9;
    struct Thing_either *locals = (void *)frame;

    switch (frame->at) {
    case 1: goto at_1;
    case 2: goto at_2;
    default: break;
    }
    skuac_flow_want(frame, 0, A, 0);
    skuac_flow_want(frame, 1, B, 0);
    skuac_flow_want_reference(frame, 2, C, 1, 1);
    if (!skuac_flow_match(frame, 3, 1))
        return;
at_1:
    switch (frame->chosen) {
    case 0:
        locals->x = skuac_flow_got(frame, 0);
        locals->y = skuac_flow_got(frame, 1);
        note(frame->self, "x", value_of(&locals->x));
        note(frame->self, "y", value_of(&locals->y));
        skuac_flow_drop(&locals->x);
        skuac_flow_drop(&locals->y);
        break;
    case 1:
        locals->z = skuac_flow_got(frame, 2);
        skuac_flow_keep(&locals->z);
        note(frame->self, "z", value_of(&locals->z));
        skuac_flow_arrive(&Thing_flow, frame->self, A, 3, &nine, sizeof nine);
        skuac_flow_want(frame, 0, A, 0);
        if (!skuac_flow_match(frame, 1, 2))
            return;
    at_2:
        locals->x = skuac_flow_got(frame, 0);
        note(frame->self, "x", value_of(&locals->x));
        note(frame->self, "z", value_of(&locals->z));
        skuac_flow_drop(&locals->x);
        skuac_flow_drop(&locals->z);
        break;
    default: CHECK(frame->chosen <= 1);
    }
    skuac_flow_end(frame);
}

/* forall [i] (0 : n - 1) when b[i](x) serial { note }; its calls nest: n / 2 of its own */
struct Thing_one {
    skuac_frame   frame;
    skuac_arrival x;
    skuac_wait    wait[1];
    int           i;
};

static void Thing_one_go(skuac_frame *frame)
{
    struct Thing_one *locals = (void *)frame;

    if (frame->at == 0) {
        skuac_flow_want_reference(frame, 0, B, 0, locals->i);
        if (!skuac_flow_match(frame, 1, 1))
            return;
    }
    locals->x = skuac_flow_got(frame, 0);
    note(frame->self, "b", value_of(&locals->x));
    skuac_flow_drop(&locals->x);
    skuac_flow_end(frame);
}

static const skuac_frame_type Thing_one_type = {"Thing.one", sizeof(struct Thing_one), 1, 1,
                                                Thing_one_go};

struct Thing_all {
    skuac_frame frame;
    int         n;
};

static const skuac_frame_type Thing_all_type;

static void Thing_all_go(skuac_frame *frame)
{
    struct Thing_all *locals = (void *)frame;

    switch (frame->at) {
    case 1: goto at_1;
    case 2: goto at_2;
    default: break;
    }
    if (locals->n == 0)
        locals->n = 4;
    for (int i = 0; i < locals->n; i++)
        ((struct Thing_one *)skuac_flow_start(frame, &Thing_one_type, nothing))->i = i;
    if (!skuac_flow_join(frame, 1))
        return;
at_1:
    note(frame->self, "all", locals->n);
    if (locals->n > 1) {
        ((struct Thing_all *)skuac_flow_start(frame, &Thing_all_type, nothing))->n = locals->n / 2;
        if (!skuac_flow_join(frame, 2))
            return;
    }
at_2:
    skuac_flow_end(frame);
}

static const skuac_frame_type Thing_all_type    = {"Thing.all", sizeof(struct Thing_all), 0, 0,
                                                   Thing_all_go};
static const skuac_frame_type Thing_loop_type   = {"Thing.loop", sizeof(struct Thing_loop), 1, 1,
                                                   Thing_loop_go};
static const skuac_frame_type Thing_both_type   = {"Thing.both", sizeof(struct Thing_both), 4, 3,
                                                   Thing_both_go};
static const skuac_frame_type Thing_either_type = {"Thing.either", sizeof(struct Thing_either), 3,
                                                   3, Thing_either_go};

/* ---- one object, outside of a chare ------------------------------------------------------ */

#define OBJECT_HEAD 256 /* bytes before an object, at most, for the runtime; zero: it lives */

static _Alignas(16) char room[OBJECT_HEAD + SKUAC_FLOW_BYTES(sizeof(Thing), TRIGGERS)];
static char *const  memory = room + OBJECT_HEAD;
static Thing *const thing  = (Thing *)(void *)(room + OBJECT_HEAD);

static void begin(const skuac_frame_type *type)
{
    skuac_flow_begin(&Thing_flow, thing, type, nothing);
}

static void arrive(int when, int64_t reference, int value)
{
    skuac_flow_arrive(&Thing_flow, thing, (unsigned)when, reference, &value, sizeof value);
}

static void arrive_msg(int when, int64_t reference, int value)
{
    skua_msg *msg = skua_msg_alloc(sizeof value);

    memcpy(skua_msg_data(msg), &value, sizeof value);
    skuac_flow_arrive_msg(&Thing_flow, thing, (unsigned)when, reference, msg);
}

/* Compares the trace and clears it. */
static void expect(const char *text)
{
    if (strcmp(thing->text, text) != 0)
        skua_abort("expected \"%s\", not \"%s\"", text, thing->text);
    skuac_flow_destroy(&Thing_flow, thing);
    for (size_t i = sizeof *thing; i < sizeof room - OBJECT_HEAD; i++)
        CHECK(memory[i] == 0);
    memset(room, 0, sizeof room);
}

static void one_when(void)
{
    begin(&Thing_loop_type);
    arrive(A, 0, 10);
    arrive(A, 1, 11);
    arrive(A, 2, 12);
    expect("a10 a11 a12 end0 ");
    arrive(A, 2, 12); /* all messages arrive early, in reverse order */
    arrive_msg(A, 1, 11);
    arrive_msg(A, 0, 10);
    arrive(A, 0, 20);
    begin(&Thing_loop_type);
    /* Takes the second message and waits for the next; then it is destroyed. */
    begin(&Thing_loop_type);
    expect("a10 a11 a12 end0 a20 ");
    begin(&Thing_loop_type); /* two frames wait for one message: the older one takes it */
    begin(&Thing_loop_type);
    arrive(A, 1, 1);
    arrive(A, 0, 2);
    arrive(A, 0, 3);
    arrive(A, 2, 4);
    expect("a2 a1 a3 a4 end0 ");
}

static void several_at_once(void)
{
    const int     five    = 5;
    skuac_arrival invoked = {&five, sizeof five, NULL};

    skuac_flow_begin(&Thing_flow, thing, &Thing_both_type, invoked);
    arrive(A, 1, 1);
    arrive(B, 6, 2);
    arrive(B, 7, 3);
    arrive(A, 2, 4);
    expect("i5 x1 y4 z3 ");
    arrive(A, 1, 1);
    arrive(B, 7, 3);
    begin(&Thing_both_type); /* one message does not satisfy two waits */
    begin(&Thing_both_type);
    arrive(B, 7, 4);
    arrive(A, 2, 5);
    arrive(A, 2, 6);
    arrive(A, 2, 7);
    expect("x1 y5 z3 x6 y7 z4 ");
}

static void alternatives(void)
{
    begin(&Thing_either_type);
    arrive(A, 0, 1);
    arrive(C, 2, 2);
    arrive_msg(C, 1, 3); /* takes the early a; the one that it sends to itself is kept */
    begin(&Thing_either_type);
    arrive(B, 0, 4);
    expect("z3 x1 z3 x9 y4 ");
    begin(&Thing_either_type);
    arrive(C, 1, 5); /* its own a arrives after it has begun to wait */
    expect("z5 x9 z5 ");
    arrive(C, 1, 6);
    arrive(A, 1, 7);
    arrive(B, 1, 8); /* both have arrived: the first alternative is selected */
    begin(&Thing_either_type);
    expect("x7 y8 ");
}

static void children(void)
{
    begin(&Thing_all_type);
    arrive(B, 3, 3);
    arrive(B, 0, 0);
    arrive(B, 0, 4); /* early, for the next call */
    arrive(B, 2, 2);
    arrive(B, 1, 1);
    arrive(B, 1, 5);
    arrive(B, 0, 6);
    expect("b3 b0 b2 b1 all4 b4 b5 all2 b6 all1 ");
}

/* A frame that a running frame begins runs after it. */
static void Thing_nest_go(skuac_frame *frame)
{
    skuac_flow_begin(&Thing_flow, frame->self, &Thing_one_type, nothing);
    note(frame->self, "nest", 1);
    skuac_flow_end(frame);
}

static void nested(void)
{
    static const skuac_frame_type type = {"Thing.nest", sizeof(skuac_frame), 0, 0, Thing_nest_go};

    arrive(B, 0, 1);
    skuac_flow_begin(&Thing_flow, thing, &type, nothing);
    expect("nest1 b1 ");
}

/* ---- many ------------------------------------------------------------------------------------ */

static long many_sum;

static void Thing_many_go(skuac_frame *frame)
{
    struct Thing_one *locals = (void *)frame;

    if (frame->at == 0) {
        skuac_flow_want_reference(frame, 0, B, 0, locals->i);
        if (!skuac_flow_match(frame, 1, 1))
            return;
    }
    locals->x = skuac_flow_got(frame, 0);
    CHECK(value_of(&locals->x) == locals->i);
    many_sum += locals->i;
    skuac_flow_drop(&locals->x);
    skuac_flow_end(frame);
}

static const skuac_frame_type Thing_many_type = {"Thing.many", sizeof(struct Thing_one), 1, 1,
                                                 Thing_many_go};

struct Thing_crowd {
    skuac_frame frame;
    int         n, backwards;
};

static int crowd_size, crowd_backwards;

static void Thing_crowd_go(skuac_frame *frame)
{
    if (frame->at == 0)
        for (int i = 0; i < crowd_size; i++)
            ((struct Thing_one *)skuac_flow_start(frame, &Thing_many_type, nothing))->i =
                crowd_backwards ? crowd_size - 1 - i : i;
    if (!skuac_flow_join(frame, 1))
        return;
    note(frame->self, "crowd", crowd_size);
    skuac_flow_end(frame);
}

static const skuac_frame_type Thing_crowd_type = {"Thing.crowd", sizeof(struct Thing_crowd), 0, 0,
                                                  Thing_crowd_go};

static const skuac_frame_type *const Thing_types[] = {
    &Thing_one_type,    &Thing_all_type,  &Thing_loop_type, &Thing_both_type,
    &Thing_either_type, &Thing_many_type, &Thing_crowd_type};
static const char *const      Thing_whens[] = {"a", "b", "c"};
static const skuac_flow_class Thing_flow    = {
       "Thing", SKUAC_FLOW_AT(sizeof(Thing)), 7, TRIGGERS, Thing_types, Thing_whens};

/* Runs many frames. With @p early the messages arrive first, then the frames that wait for them
 * begin, in reverse order. */
static void crowd(int n, bool early)
{
    char   text[32];
    double began = skua_time();

    crowd_size      = n;
    crowd_backwards = early;
    many_sum        = 0;
    if (!early)
        skuac_flow_begin(&Thing_flow, thing, &Thing_crowd_type, nothing);
    for (int i = 0; i < n; i++)
        arrive(B, i * 7919L % n, (int)(i * 7919L % n));
    if (early)
        skuac_flow_begin(&Thing_flow, thing, &Thing_crowd_type, nothing);
    CHECK(many_sum == (long)n * (n - 1) / 2);
    snprintf(text, sizeof text, "crowd%d ", n);
    expect(text);
    printf("# %d %s: %.3f s\n", n, early ? "messages" : "frames", skua_time() - began);
}

/* Frames that accept any message, among many that accept only one. */
static void any_among_many(int n)
{
    crowd_size = n;
    skuac_flow_begin(&Thing_flow, thing, &Thing_crowd_type, nothing);
    begin(&Thing_either_type); /* b, and a */
    arrive(A, 0, 1);
    arrive(B, n / 2, n / 2); /* an older frame takes it */
    arrive(B, n, 2);
    for (int i = 0; i < n; i++)
        if (i != n / 2)
            arrive(B, i, i);
    expect(n == 100 ? "x1 y2 crowd100 " : "");
}

static int programs = 200;
static int large    = 100000;

/* ---- many objects that migrate -------------------------------------------------------------- */

static skua_class   thing_class;
static skua_entry   feed_entry;
static skua_handler moved_handler;

static void construct(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    crowd_size      = large / 4;
    crowd_backwards = false;
    for (int i = 0; i < crowd_size; i++)
        skuac_flow_arrive(&Thing_flow, self, A, i, &i, sizeof i);
    skuac_flow_begin(&Thing_flow, self, &Thing_crowd_type, nothing);
    skua_migrate(self, skua_pes() - 1);
    skua_invoke_copy(skua_ref_of(self), feed_entry, NULL, 0);
}

static void on_feed(void *self, const void *data, size_t bytes)
{
    char text[64];

    (void)data, (void)bytes;
    CHECK(skua_pe() == skua_pes() - 1);
    crowd_size = large / 4;
    many_sum   = 0;
    for (int i = crowd_size - 1; i >= 0; i--)
        skuac_flow_arrive(&Thing_flow, self, B, i, &i, sizeof i);
    CHECK(many_sum == (long)crowd_size * (crowd_size - 1) / 2);
    skuac_flow_begin(&Thing_flow, self, &Thing_loop_type, nothing);
    snprintf(text, sizeof text, "crowd%d a0 a1 a2 end0 ", crowd_size);
    CHECK(strcmp(((Thing *)self)->text, text) == 0);
    skua_object_destroy(self); /* while it keeps messages */
    skua_send_copy(0, moved_handler, NULL, 0);
}

static void destroy(void *self)
{
    skuac_flow_destroy(&Thing_flow, self);
}

static void pup(skua_pup *p, void *self)
{
    skua_pup_bytes(p, self, sizeof(Thing));
    skuac_flow_pup(&Thing_flow, p, self);
}

static void on_moved(skua_msg *msg)
{
    skua_msg_free(msg);
    flow_random_start(programs, tap_seed());
}

static void register_thing(void)
{
    static const skua_class_def def = {.name      = "Thing",
                                       .bytes     = SKUAC_FLOW_BYTES(sizeof(Thing), TRIGGERS),
                                       .construct = construct,
                                       .destroy   = destroy,
                                       .pup       = pup};

    thing_class   = skua_class_register(&def);
    feed_entry    = skua_method_register(thing_class, "feed", on_feed, 0);
    moved_handler = skua_handler_register("moved", on_moved);
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    if (skua_pe() != 0)
        return;
    one_when();
    several_at_once();
    alternatives();
    children();
    nested();
    any_among_many(100);
    crowd(large, false);
    crowd(large, true);
    skua_chare_create(thing_class, 0, NULL, 0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        programs = atoi(argv[1]);
    if (argc > 2)
        large = atoi(argv[2]);
    register_thing();
    flow_random_register();
    return skua_main(argc, argv, start);
}
