/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_report.c - what the frames of an object wait for, in words: part of the report on a job that
 * hangs (objects/services/idle_report.h).
 */
#include "core/sched/wait_report.h"
#include "flow/flow.h"
#include "objects/model/collection.h"
#include "objects/model/object.h"

#define FLOW_REPORT_FRAMES_MAX 3 /* of an object that are described */

static const skuac_frame *flow_report_next(const skuac_frame *frame)
{
    while (frame && frame->waiting == 0)
        frame = frame->next;
    return frame;
}

/* Appends the messages that are buffered for a when-entry: none of them matches the wait. */
static void flow_report_buffered(const skuac_when *when, struct ski_text *text)
{
    size_t count = 0;

    for (const skua_msg *msg = when->first; msg; msg = msg->link)
        count++;
    if (count)
        ski_text_add(text, " (%zu others have arrived, the first with reference number %lld)",
                     count, (long long)ski_when_refnum(when->first));
}

static void flow_report_wait(const skuac_flow_class *of, const skuac_wait *wait,
                             struct ski_text *text)
{
    ski_text_add(text, "%s", of->when[wait->when]);
    if (!wait->any)
        ski_text_add(text, " with reference number %lld", (long long)wait->reference);
    flow_report_buffered(skuac_flow_whens(wait->frame->flow) + wait->when, text);
}

static void flow_report_frame(const skuac_flow_class *of, const skuac_frame *frame,
                              struct ski_text *text)
{
    const skuac_wait *wait = frame->wait;

    ski_text_add(text, "in %s for ", frame->type->name);
    for (unsigned i = 0; i < frame->waiting; i++) {
        if (i > 0)
            ski_text_add(text, wait[i].alternative == wait[i - 1].alternative ? " and " : " or ");
        flow_report_wait(of, &wait[i], text);
    }
}

bool ski_flow_report(const struct ski_object *object, struct ski_text *text)
{
    const skuac_flow_class *of    = object->of->class->flow;
    const skuac_frame      *first = flow_report_next(ski_flow_of(of, (void *)(object + 1))->first);
    int                     count = 0;

    if (!first || !text)
        return first != NULL;
    for (const skuac_frame *frame = first; frame && count < FLOW_REPORT_FRAMES_MAX; count++) {
        if (count > 0)
            ski_text_add(text, ", ");
        flow_report_frame(of, frame, text);
        frame = flow_report_next(frame->next);
    }
    return true;
}
