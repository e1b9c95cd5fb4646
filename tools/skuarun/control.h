/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - an agent's part in what processes tell each other (boot.h): it takes
 * the requests of its processes, answers what it knows, and asks the launcher for
 * the rest.
 */
#ifndef SKUARUN_CONTROL_H
#define SKUARUN_CONTROL_H

#include "channel.h"
#include "spawn.h"
#include "table.h"

struct control {
    struct launch  *launch;
    struct channel *channel;
    struct table   *table;
    bool           *asks; /* by index: a get of that process is not answered yet */
};

void control_begin(struct control *control, struct launch *launch, struct channel *channel);
void control_end(struct control *control);

/** Where a request may come in: one place for each process here. */
void control_fill(const struct control *control, struct pollfd *polls);

/** Take what came.  False: a process asks what makes no sense, said in @p why. */
bool control_serve(struct control *control, const struct pollfd *polls, char why[WHY_BYTES]);

/** A value came from the launcher.  False: it makes no sense. */
bool control_value(struct control *control, const struct frame *frame);

#endif
