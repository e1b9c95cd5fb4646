/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_model.c - random programs of frames (flow_random.h), and a reference implementation that
 * runs them: the semantics of skua/skuac_flow.h, with arrays and linear search.
 */
#include "flow_random.h"

#include <string.h>

#include "tap.h"

/* ---- programs ----------------------------------------------------------------------------- */

/* Returns a pseudo-random number below @p n, which depends only on the other arguments. */
static int pick(uint64_t seed, int a, int b, int c, int n)
{
    uint64_t state = seed * 31 + (uint64_t)a * 1000003 + (uint64_t)b * 8191 + (uint64_t)c + 1;

    for (int i = 0; i < 3; i++)
        tap_random(&state);
    return (int)(tap_random(&state) >> 33) % n;
}

static void random_when(struct op *op, uint64_t seed, int script, int place)
{
    int alternatives = 1 + pick(seed, script, place, 1, 3);

    for (int i = 0; i < alternatives; i++) {
        int together = 1 + pick(seed, script, place, 2 + i, 2);

        for (int k = 0; k < together; k++) {
            struct wish *wish = &op->wish[op->waits++];

            wish->alternative = i;
            wish->when        = pick(seed, script, place, 10 + 2 * i + k, RANDOM_TRIGGERS);
            wish->any         = pick(seed, script, place, 20 + 2 * i + k, 3) == 0;
            wish->reference   = pick(seed, script, place, 30 + 2 * i + k, 3);
        }
    }
}

void random_op(struct op *op, uint64_t seed, int script, int place)
{
    int chance = pick(seed, script, place, 40, 16);

    memset(op, 0, sizeof *op);
    if (place > 4 + script % 3)
        return;
    op->when      = pick(seed, script, place, 41, RANDOM_TRIGGERS);
    op->reference = pick(seed, script, place, 42, 3);
    op->calls     = 1 + pick(seed, script, place, 43, 3);
    op->script    = pick(seed, script, place, 44, RANDOM_SCRIPTS);
    if (chance < 8) {
        op->kind = OP_WHEN;
        random_when(op, seed, script, place);
    } else {
        op->kind = chance < 11 ? OP_CALL : chance < 14 ? OP_SEND : OP_BEGIN;
    }
}

void random_event(struct op *op, uint64_t seed, int number)
{
    memset(op, 0, sizeof *op);
    op->kind      = number < 3 || pick(seed, 100, number, 0, 10) == 0 ? OP_BEGIN : OP_SEND;
    op->when      = pick(seed, 100, number, 1, RANDOM_TRIGGERS);
    op->reference = pick(seed, 100, number, 2, 3);
    op->script    = pick(seed, 100, number, 3, RANDOM_SCRIPTS);
}

void history_add(struct history *history, int64_t what)
{
    history->mixed = (history->mixed ^ (uint64_t)what) * UINT64_C(0x9e3779b97f4a7c15);
    history->mixed ^= history->mixed >> 29;
}

/* ---- the model ---------------------------------------------------------------------------- */

enum state { READY, WAITING, JOINING, ENDED };

struct frame {
    enum state state;
    int        script, place, parent, children;
    int        held; /* a message until the end, or 0  */
    int        chosen;
    int        got[RANDOM_WAITS];
    struct op  op;
    bool       woken; /* resumes within its operation */
};

struct message {
    int when, reference, number;
};

#define MOST 2000

struct model {
    uint64_t       seed;
    struct history history;
    struct frame   frame[RANDOM_STRANDS];
    int            ready[MOST], ready_first, ready_count;
    /* Waiting frames, the longest-waiting first. */
    int            waiting[RANDOM_STRANDS], waiting_count;
    struct message late[MOST], kept[MOST]; /* kept messages of all whens, the oldest first */
    int            late_first, late_count, kept_count;
};

static void make_ready(struct model *m, int frame)
{
    CHECK(m->ready_count < MOST);
    m->frame[frame].state      = READY;
    m->ready[m->ready_count++] = frame;
}

static void begin_frame(struct model *m, int script, int parent)
{
    struct frame *s;

    if (m->history.frames == RANDOM_STRANDS)
        return;
    s  = &m->frame[m->history.frames];
    *s = (struct frame){.script = script, .parent = parent};
    if (parent >= 0)
        m->frame[parent].children++;
    make_ready(m, m->history.frames++);
}

/* Chooses messages for an alternative by the rule: those with a reference first.  Returns false if
 * there are not enough. */
static bool choose(const struct model *m, const struct op *op, int alternative, int *chosen)
{
    bool taken[MOST] = {false};

    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < op->waits; i++) {
            const struct wish *w = &op->wish[i];
            int                k = 0;

            if (w->alternative != alternative || w->any != (pass == 1))
                continue;
            while (k < m->kept_count && (taken[k] || m->kept[k].when != w->when ||
                                         (!w->any && m->kept[k].reference != w->reference)))
                k++;
            if (k == m->kept_count)
                return false;
            taken[k]  = true;
            chosen[i] = k;
        }
    return true;
}

/* Returns true if any assignment exists, to check that the rule finds one. */
static bool possible(const struct model *m, const struct op *op, int alternative, int i,
                     bool *taken)
{
    const struct wish *w = &op->wish[i];

    if (i == op->waits)
        return true;
    if (w->alternative != alternative)
        return possible(m, op, alternative, i + 1, taken);
    for (int k = 0; k < m->kept_count; k++) {
        if (taken[k] || m->kept[k].when != w->when ||
            (!w->any && m->kept[k].reference != w->reference))
            continue;
        taken[k] = true;
        if (possible(m, op, alternative, i + 1, taken))
            return true;
        taken[k] = false;
    }
    return false;
}

/* Gives a frame the messages of an alternative if all have arrived. */
static bool satisfy(struct model *m, struct frame *s, int alternative)
{
    int  chosen[RANDOM_WAITS];
    bool taken[MOST] = {false}, gone[MOST] = {false};
    int  left = 0;

    if (!choose(m, &s->op, alternative, chosen)) {
        CHECK(m->kept_count > 12 || !possible(m, &s->op, alternative, 0, taken));
        return false;
    }
    for (int i = 0; i < s->op.waits; i++)
        if (s->op.wish[i].alternative == alternative) {
            s->got[i]       = m->kept[chosen[i]].number;
            gone[chosen[i]] = true;
        }
    for (int k = 0; k < m->kept_count; k++)
        if (!gone[k])
            m->kept[left++] = m->kept[k];
    m->kept_count = left;
    s->chosen     = alternative;
    return true;
}

/* Returns true if a waiting frame can resume now that @p msg is kept. */
static bool wakes(struct model *m, struct frame *s, const struct message *msg)
{
    for (int i = 0; i < s->op.waits; i++) {
        const struct wish *w = &s->op.wish[i];

        if (w->when == msg->when && (w->any || w->reference == msg->reference) &&
            satisfy(m, s, w->alternative))
            return true;
    }
    return false;
}

/* Resumes waiting frames, the one that has waited longest first. */
static void deliver(struct model *m, const struct message *msg)
{
    CHECK(m->kept_count < MOST);
    m->kept[m->kept_count++] = *msg;
    for (int i = 0; i < m->waiting_count; i++) {
        int number = m->waiting[i];

        if (!wakes(m, &m->frame[number], msg))
            continue;
        m->waiting_count--;
        memmove(&m->waiting[i], &m->waiting[i + 1],
                (size_t)(m->waiting_count - i) * sizeof *m->waiting);
        m->frame[number].woken = true;
        make_ready(m, number);
        return;
    }
}

static void model_got(struct model *m, int number, struct frame *s)
{
    history_add(&m->history, number);
    history_add(&m->history, s->chosen);
    for (int i = 0; i < s->op.waits; i++)
        if (s->op.wish[i].alternative == s->chosen) {
            history_add(&m->history, s->got[i]);
            if (!s->held)
                s->held = s->got[i];
        }
}

static void model_end(struct model *m, int number, struct frame *s)
{
    history_add(&m->history, -1 - number);
    history_add(&m->history, s->held);
    s->state = ENDED;
    if (s->parent >= 0 && --m->frame[s->parent].children == 0 &&
        m->frame[s->parent].state == JOINING)
        make_ready(m, s->parent);
}

static void send_message(struct model *m, const struct op *op)
{
    struct message msg = {op->when, op->reference, ++m->history.messages};

    CHECK(m->late_count < MOST);
    m->late[m->late_count++] = msg;
}

/* Runs one operation.  Returns false if the frame waits or has ended. */
static bool step(struct model *m, int number, struct frame *s)
{
    if (s->woken) {
        s->woken = false;
        model_got(m, number, s);
        return true;
    }
    random_op(&s->op, m->seed, s->script, s->place++);
    switch (s->op.kind) {
    case OP_END: model_end(m, number, s); return false;
    case OP_SEND: send_message(m, &s->op); return true;
    case OP_BEGIN: begin_frame(m, s->op.script, -1); return true;
    case OP_CALL:
        for (int i = 0; i < s->op.calls; i++)
            begin_frame(m, (s->op.script + i) % RANDOM_SCRIPTS, number);
        s->state = JOINING;
        return s->children == 0;
    default:
        for (int i = 0; i < s->op.waits; i++)
            if (satisfy(m, s, s->op.wish[i].alternative)) {
                model_got(m, number, s);
                return true;
            }
        s->state                       = WAITING;
        m->waiting[m->waiting_count++] = number;
        return false;
    }
}

static void settle(struct model *m)
{
    while (m->ready_first < m->ready_count || m->late_first < m->late_count) {
        int number;

        if (m->ready_first == m->ready_count) {
            deliver(m, &m->late[m->late_first++]);
            continue;
        }
        number = m->ready[m->ready_first++];
        while (step(m, number, &m->frame[number])) {
        }
    }
}

struct history model_run(uint64_t seed)
{
    struct model  *m = calloc(1, sizeof *m);
    struct history history;
    struct op      op;

    m->seed = seed;
    for (int i = 0; i < RANDOM_EVENTS; i++) {
        random_event(&op, seed, i);
        if (op.kind == OP_SEND)
            send_message(m, &op);
        else
            begin_frame(m, op.script, -1);
        settle(m);
    }
    history = m->history;
    free(m);
    return history;
}
