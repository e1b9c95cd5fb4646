/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote.h - an agent, as the launcher sees it.
 */
#ifndef SKUARUN_REMOTE_H
#define SKUARUN_REMOTE_H

#include <sys/types.h>

#include "channel.h"
#include "hosts.h"
#include "stream.h"

struct remote {
    const struct host *host;
    int                first, here; /* its processes                             */
    int                running;     /* so many of them have not ended            */
    pid_t              pid;         /* of the agent, or of what leads to it; 0   */
    int                status;      /* of that, when it has ended                */
    bool               greeted;     /* it has said hello                         */
    struct machine     machine;     /* which it has said                         */
    int                owed;        /* bytes of output that it has not heard of  */
    struct channel     channel;
    struct stream      out, errors; /* of its processes                          */
    struct stream      words;       /* what the agent itself has to say          */
};

/** Start the agent.  False: the reason has been said. */
bool remote_start(struct remote *remote);

/** What leads to the host: "ssh -o BatchMode=yes b", for people. */
void remote_command(const struct remote *remote, char *text, size_t size);

#endif
