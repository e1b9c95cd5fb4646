/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_random.c - random programs (flow_random.h) in objects that migrate between any two events,
 * each compared with the reference implementation; and objects that are deleted while theirs run.
 *
 * An object sends itself the next event, so the order of events does not depend on its PE.
 */
#include "flow_random.h"

#include <skua/flow.h>
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
    skua_strand  strand;
    skua_arrival invoked; /* its script, number and more */
    skua_arrival held, got[RANDOM_WAITS];
    skua_wait    wait[RANDOM_WAITS];
    int32_t      script, number, place;
};

struct order {
    int32_t script, number;
};

/* A message; they differ in length. */
struct parcel {
    int32_t number;
    char    more[96];
};

static const skua_flow_class  player_flow;
static const skua_strand_type player_run_type;
static skua_class             player_class;
static skua_entry             next_entry;
static skua_handler           done_handler;
static int                    programs_left;

static int32_t number_in(const skua_arrival *arrival)
{
    const struct parcel *parcel = arrival->data;

    CHECK(arrival->bytes == sizeof parcel->number + (size_t)parcel->number % 90);
    for (int i = 0; i < parcel->number % 90; i++)
        CHECK(parcel->more[i] == (char)(parcel->number + i));
    return parcel->number;
}

/* Alternately with borrowed data and in a message. */
static void send_message(struct player *self, const struct op *op)
{
    struct parcel parcel = {.number = ++self->history.messages};
    size_t        bytes  = sizeof parcel.number + (size_t)parcel.number % 90;

    for (int i = 0; i < parcel.number % 90; i++)
        parcel.more[i] = (char)(parcel.number + i);
    if (parcel.number % 2) {
        skua_msg *msg = skua_msg_alloc(bytes);

        memcpy(skua_msg_data(msg), &parcel, bytes);
        skua_flow_arrive_msg(&player_flow, self, (unsigned)op->trigger, op->reference, msg);
    } else {
        skua_flow_arrive(&player_flow, self, (unsigned)op->trigger, op->reference, &parcel, bytes);
    }
}

static void begin_strand(struct player *self, int script, skua_strand *parent)
{
    struct order order   = {script, self->history.strands};
    skua_arrival arrival = {&order, sizeof order, NULL};

    if (self->history.strands == RANDOM_STRANDS)
        return;
    self->history.strands++;
    if (parent)
        skua_flow_start(parent, &player_run_type, arrival);
    else
        skua_flow_begin(&player_flow, self, &player_run_type, arrival);
}

static bool when(skua_strand *strand, const struct op *op)
{
    for (int i = 0; i < op->waits; i++) {
        const struct wish *wish = &op->wish[i];

        if (wish->any)
            skua_flow_want(strand, (unsigned)i, (unsigned)wish->trigger,
                           (unsigned)wish->alternative);
        else
            skua_flow_want_reference(strand, (unsigned)i, (unsigned)wish->trigger,
                                     (unsigned)wish->alternative, wish->reference);
    }
    return skua_flow_match(strand, (unsigned)op->waits, 1);
}

/* Records every arrival, and keeps the first one until the end. */
static void got(struct player *self, struct player_run *frame, const struct op *op)
{
    history_add(&self->history, frame->number);
    history_add(&self->history, frame->strand.chosen);
    for (int i = 0; i < op->waits; i++) {
        if (op->wish[i].alternative != frame->strand.chosen)
            continue;
        frame->got[i] = skua_flow_got(&frame->strand, (unsigned)i);
        history_add(&self->history, number_in(&frame->got[i]));
        if (!frame->held.msg) {
            skua_flow_keep(&frame->got[i]);
            frame->held       = frame->got[i];
            frame->got[i].msg = NULL;
        } else {
            skua_flow_drop(&frame->got[i]);
        }
    }
}

static void player_run_go(skua_strand *strand)
{
    struct player_run *frame = (void *)strand;
    struct player     *self  = strand->self;
    struct op          op;

    if (strand->at == 0) {
        struct order order;

        memcpy(&order, frame->invoked.data, sizeof order);
        frame->script = order.script;
        frame->number = order.number;
    } else if (strand->at == 1) {
        random_op(&op, self->seed, frame->script, frame->place - 1);
        got(self, frame, &op);
    }
    for (;;) {
        random_op(&op, self->seed, frame->script, frame->place++);
        switch (op.kind) {
        case OP_END:
            history_add(&self->history, -1 - frame->number);
            history_add(&self->history, frame->held.msg ? number_in(&frame->held) : 0);
            skua_flow_end(strand);
            return;
        case OP_SEND: send_message(self, &op); break;
        case OP_BEGIN: begin_strand(self, op.script, NULL); break;
        case OP_CALL:
            for (int i = 0; i < op.calls; i++)
                begin_strand(self, (op.script + i) % RANDOM_SCRIPTS, strand);
            if (!skua_flow_join(strand, 2))
                return;
            break;
        default:
            if (!when(strand, &op))
                return;
            got(self, frame, &op);
        }
    }
}

static const skua_strand_type player_run_type = {"player.run", sizeof(struct player_run),
                                                 2 + RANDOM_WAITS, RANDOM_WAITS, player_run_go};

static const skua_strand_type *const player_types[]    = {&player_run_type};
static const char *const             player_triggers[] = {"a", "b", "c"};

static const skua_flow_class player_flow = {
    .name     = "player",
    .at       = SKUA_FLOW_AT(sizeof(struct player)),
    .types    = 1,
    .triggers = RANDOM_TRIGGERS,
    .type     = player_types,
    .trigger  = player_triggers,
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
    skua_flow_destroy(&player_flow, self);
}

static void pup(skua_pup *p, void *self)
{
    skua_pup_bytes(p, self, sizeof(struct player));
    skua_flow_pup(&player_flow, p, self);
}

static void play_end(struct player *self)
{
    struct history model = model_run(self->seed);

    if (self->history.mixed != model.mixed || self->history.strands != model.strands ||
        self->history.messages != model.messages)
        skua_abort("program %llu%s: %d strands and %d messages, %016llx; by the book %d and %d, "
                   "%016llx",
                   (unsigned long long)self->seed, self->moves ? ", which moves" : "",
                   self->history.strands, self->history.messages,
                   (unsigned long long)self->history.mixed, model.strands, model.messages,
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
        skua_delete(self);
        skua_send_copy(0, done_handler, NULL, 0);
    } else {
        skua_invoke_copy(skua_ref_of(self), next_entry, NULL, 0);
        if (p->moves)
            skua_migrate(self, (skua_pe() + p->event) % skua_pes());
    }
    random_event(&op, p->seed, p->event++); /* the object is deleted after it */
    if (op.kind == OP_SEND)
        send_message(p, &op);
    else
        begin_strand(p, op.script, NULL);
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
    skua_array1(player_class, programs, &task, sizeof task);
}

void flow_random_register(void)
{
    static const skua_class_def def = {
        "player", SKUA_FLOW_BYTES(sizeof(struct player), RANDOM_TRIGGERS), construct, destroy, pup};

    player_class = skua_class_register(&def);
    next_entry   = skua_method_register(player_class, "next", on_next, 0);
    done_handler = skua_register("done", on_done);
}
