/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_step.c - lists of steps (see schedule_step.h). */
#include "onesided/team/schedule_step.h"

#include "base/memory.h"

void ski_schedule_init(struct ski_schedule *s)
{
    s->step  = s->few;
    s->room  = SKI_STEPS_INLINE;
    s->steps = s->tags = 0;
    s->temp            = 0;
    s->view            = NULL;
}

void ski_schedule_free(struct ski_schedule *s)
{
    if (s->step != s->few)
        free(s->step);
}

/* Doubles the room for steps. */
static SKI_COLD void schedule_grow(struct ski_schedule *s)
{
    struct ski_step *old = s->step == s->few ? NULL : s->step;

    s->room *= 2;
    s->step = ski_realloc(old, s->room * sizeof *s->step);
    if (!old)
        memcpy(s->step, s->few, sizeof s->few);
}

struct ski_step *ski_step_add(struct ski_schedule *s, enum ski_step_action action)
{
    struct ski_step *step;

    if (SKI_UNLIKELY(s->steps == s->room))
        schedule_grow(s);
    step  = &s->step[s->steps++];
    *step = (struct ski_step){.action = (uint8_t)action};
    return step;
}

struct ski_step *ski_step_send(struct ski_schedule *s, int rank, uint32_t tag,
                               struct ski_position at, size_t bytes)
{
    struct ski_step *step = ski_step_add(s, SKI_STEP_SEND);

    step->rank  = s->view ? s->view->ranks[rank] : rank;
    step->tag   = s->view ? tag * SKI_PARTS + s->view->number : tag;
    step->at    = ski_step_at(s, at);
    step->bytes = bytes;
    return step;
}

struct ski_step *ski_step_recv(struct ski_schedule *s, int rank, uint32_t tag,
                               struct ski_position at, size_t bytes)
{
    struct ski_step *step = ski_step_send(s, rank, tag, at, bytes);

    step->action = SKI_STEP_RECV;
    if (step->tag >= s->tags)
        s->tags = step->tag + 1;
    return step;
}

struct ski_step *ski_step_copy(struct ski_schedule *s, struct ski_position to,
                               struct ski_position from, size_t bytes)
{
    struct ski_step *step = ski_step_add(s, SKI_STEP_COPY);

    step->at     = ski_step_at(s, to);
    step->from   = ski_step_at(s, from);
    step->bytes  = bytes;
    step->repeat = bytes > 0;
    return step;
}

struct ski_position ski_step_temp(struct ski_schedule *s, size_t bytes)
{
    struct ski_position at = ski_position(SKI_TEMP, s->temp);

    s->temp += (bytes + 63) & ~(size_t)63;
    return at;
}
