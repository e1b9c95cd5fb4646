/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_random.c - random programs (flow_random.h) in objects that migrate between any two events,
 * each compared with the reference implementation; and objects that are destroyed while their
 * programs run.
 *
 * An object sends itself the next event, so the order of events does not depend on its PE.
 */
#include "flow_random.h"

#include <skua/skuac_flow.h>
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

struct player {
    uint64_t       seed;
    struct history history;
    int32_t        event;
    bool           moves, leaves;
};

struct player_run {
    skuac_frame   frame;
    skuac_arrival invoked; /* the invocation: script, number and more */
    skuac_arrival held, got[RANDOM_WAITS];
    skuac_wait    wait[RANDOM_WAITS];
    int32_t       script, number, place;
};

struct order {
    int32_t script, number;
};

/* A message; messages differ in length. */
struct parcel {
    int32_t number;
    char    more[96];
};

static const skuac_flow_class player_flow;
static const skuac_frame_type player_run_type;
static skua_class             player_class;
static skua_entry             next_entry;
static skua_handler           done_handler;
static int                    programs_left;

static int32_t number_in(const skuac_arrival *arrival)
{
    const struct parcel *parcel = arrival->data;

    CHECK(arrival->bytes == sizeof parcel->number + (size_t)parcel->number % 90);
    for (int i = 0; i < parcel->number % 90; i++)
        CHECK(parcel->more[i] == (char)(parcel->number + i));
    return parcel->number;
}

/* Sends alternately with borrowed data and in a message. */
static void send_message(struct player *self, const struct op *op)
{
    struct parcel parcel = {.number = ++self->history.messages};
    size_t        bytes  = sizeof parcel.number + (size_t)parcel.number % 90;

    for (int i = 0; i < parcel.number % 90; i++)
        parcel.more[i] = (char)(parcel.number + i);
    if (parcel.number % 2) {
        skua_msg *msg = skua_msg_alloc(bytes);

        memcpy(skua_msg_data(msg), &parcel, bytes);
        skuac_flow_arrive_msg(&player_flow, self, (unsigned)op->when, op->reference, msg);
    } else {
        skuac_flow_arrive(&player_flow, self, (unsigned)op->when, op->reference, &parcel, bytes);
    }
}

static void begin_frame(struct player *self, int script, skuac_frame *parent)
{
    struct order  order   = {script, self->history.frames};
    skuac_arrival arrival = {&order, sizeof order, NULL};

    if (self->history.frames == RANDOM_STRANDS)
        return;
    self->history.frames++;
    if (parent)
        skuac_flow_start(parent, &player_run_type, arrival);
    else
        skuac_flow_begin(&player_flow, self, &player_run_type, arrival);
}

static bool when(skuac_frame *frame, const struct op *op)
{
    for (int i = 0; i < op->waits; i++) {
        const struct wish *wish = &op->wish[i];

        if (wish->any)
            skuac_flow_want(frame, (unsigned)i, (unsigned)wish->when, (unsigned)wish->alternative);
        else
            skuac_flow_want_reference(frame, (unsigned)i, (unsigned)wish->when,
                                      (unsigned)wish->alternative, wish->reference);
    }
    return skuac_flow_match(frame, (unsigned)op->waits, 1);
}

/* Records every arrival, and keeps the first one until the end. */
static void got(struct player *self, struct player_run *frame, const struct op *op)
{
    history_add(&self->history, frame->number);
    history_add(&self->history, frame->frame.chosen);
    for (int i = 0; i < op->waits; i++) {
        if (op->wish[i].alternative != frame->frame.chosen)
            continue;
        frame->got[i] = skuac_flow_got(&frame->frame, (unsigned)i);
        history_add(&self->history, number_in(&frame->got[i]));
        if (!frame->held.msg) {
            skuac_flow_keep(&frame->got[i]);
            frame->held       = frame->got[i];
            frame->got[i].msg = NULL;
        } else {
            skuac_flow_drop(&frame->got[i]);
        }
    }
}

static void player_run_go(skuac_frame *frame)
{
    struct player_run *locals = (void *)frame;
    struct player     *self   = frame->self;
    struct op          op;

    if (frame->at == 0) {
        struct order order;

        memcpy(&order, locals->invoked.data, sizeof order);
        locals->script = order.script;
        locals->number = order.number;
    } else if (frame->at == 1) {
        random_op(&op, self->seed, locals->script, locals->place - 1);
        got(self, locals, &op);
    }
    for (;;) {
        random_op(&op, self->seed, locals->script, locals->place++);
        switch (op.kind) {
        case OP_END:
            history_add(&self->history, -1 - locals->number);
            history_add(&self->history, locals->held.msg ? number_in(&locals->held) : 0);
            skuac_flow_end(frame);
            return;
        case OP_SEND: send_message(self, &op); break;
        case OP_BEGIN: begin_frame(self, op.script, NULL); break;
        case OP_CALL:
            for (int i = 0; i < op.calls; i++)
                begin_frame(self, (op.script + i) % RANDOM_SCRIPTS, frame);
            if (!skuac_flow_join(frame, 2))
                return;
            break;
        default:
            if (!when(frame, &op))
                return;
            got(self, locals, &op);
        }
    }
}

static const skuac_frame_type player_run_type = {"player.run", sizeof(struct player_run),
                                                 2 + RANDOM_WAITS, RANDOM_WAITS, player_run_go};

static const skuac_frame_type *const player_types[] = {&player_run_type};
static const char *const             player_whens[] = {"a", "b", "c"};

static const skuac_flow_class player_flow = {
    .name  = "player",
    .at    = SKUAC_FLOW_AT(sizeof(struct player)),
    .types = 1,
    .whens = RANDOM_TRIGGERS,
    .type  = player_types,
    .when  = player_whens,
};

/* ---- the object ----------------------------------------------------------------------------- */

struct task {
    uint64_t seed;
};

static void construct(void *self, const void *data, size_t bytes)
{
    struct player *p     = self;
    int            index = skua_index_of(self).at.x[0];
    struct task    task;

    CHECK(bytes == sizeof task);
    memcpy(&task, data, sizeof task);
    p->seed   = task.seed + (uint64_t)index;
    p->moves  = index % 2 == 1;
    p->leaves = index % 8 == 6;
    skua_invoke_copy(skua_ref_of(self), next_entry, NULL, 0);
}

static void destroy(void *self)
{
    skuac_flow_destroy(&player_flow, self);
}

static void pup(skua_pup *p, void *self)
{
    skua_pup_bytes(p, self, sizeof(struct player));
    skuac_flow_pup(&player_flow, p, self);
}

static void play_end(struct player *self)
{
    struct history model = model_run(self->seed);

    if (self->history.mixed != model.mixed || self->history.frames != model.frames ||
        self->history.messages != model.messages)
        skua_abort("program %llu%s: %d frames and %d messages, %016llx; expected %d and %d,  "
                   "%016llx",
                   (unsigned long long)self->seed, self->moves ? ", which moves" : "",
                   self->history.frames, self->history.messages,
                   (unsigned long long)self->history.mixed, model.frames, model.messages,
                   (unsigned long long)model.mixed);
    skua_send_copy(0, done_handler, NULL, 0);
}

static void on_next(void *self, const void *data, size_t bytes)
{
    struct player *p = self;
    struct op      op;

    (void)data, (void)bytes;
    if (p->event == RANDOM_EVENTS) {
        play_end(p);
        return;
    }
    if (p->leaves && p->event == RANDOM_EVENTS / 2) {
        skua_object_destroy(self);
        skua_send_copy(0, done_handler, NULL, 0);
    } else {
        skua_invoke_copy(skua_ref_of(self), next_entry, NULL, 0);
        if (p->moves)
            skua_migrate(self, (skua_pe() + p->event) % skua_pes());
    }
    random_event(&op, p->seed, p->event++); /* destroys the object after this event */
    if (op.kind == OP_SEND)
        send_message(p, &op);
    else
        begin_frame(p, op.script, NULL);
}

static void on_done(skua_msg *msg)
{
    skua_msg_free(msg);
    if (--programs_left == 0)
        skua_exit(0);
}

void flow_random_start(int programs, uint64_t seed)
{
    struct task task = {seed};

    programs_left = programs;
    skua_array_create1(player_class, programs, &task, sizeof task);
}

void flow_random_register(void)
{
    static const skua_class_def def = {.name = "player",
                                       .bytes =
                                           SKUAC_FLOW_BYTES(sizeof(struct player), RANDOM_TRIGGERS),
                                       .construct = construct,
                                       .destroy   = destroy,
                                       .pup       = pup};

    player_class = skua_class_register(&def);
    next_entry   = skua_method_register(player_class, "next", on_next, 0);
    done_handler = skua_handler_register("done", on_done);
}
