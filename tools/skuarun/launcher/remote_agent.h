/* SPDX-License-Identifier: Apache-2.0 */
/* remote_agent.h - an agent as the launcher sees it: its process, its connection, its state. */
#ifndef SKUARUN_REMOTE_AGENT_H
#define SKUARUN_REMOTE_AGENT_H

#include <sys/types.h>

#include "launcher/hosts.h"
#include "processes/iof.h"
#include "protocol/frame_conn.h"
#include "survive/host_images.h"

struct remote_agent {
    const struct hosts_entry *host;
    int                       first;   /* the first of its processes                        */
    int                       running; /* processes that have not ended                     */
    pid_t                     pid;     /* of the agent, or of the remote shell that leads to
                                          it; 0 once that has ended                         */
    int                  status;       /* of pid, as returned by waitpid()                  */
    bool                 said_hello;
    struct frame_machine machine; /* from its HELLO                                        */
    int                  unacked; /* bytes of output received and not acknowledged         */
    struct frame_conn    conn;
    struct iof_output    out, errors; /* of its processes                                 */
    struct iof_output    diagnostics; /* stderr of the agent itself                        */
    bool                 idle;        /* with --survive: it waits for the next epoch       */
    int                  restarts;    /* times that it was started again                   */
    double               last_heard;  /* time of its last frame                            */
    uint64_t             generation;  /* that all its processes have completed             */
    bool                 all_joined;  /* all its processes have joined the epoch           */
    struct image_record *record;      /* the images that it holds, after an epoch          */
    int                  records;
};

/** Returns whether agents can be started on the hosts: skuarun can be run again, and a command in
 * place of ssh names the host of each, which is %h.  Else prints the reason. */
bool remote_agent_check(const struct hosts *hosts);

/** Starts the agent: skuarun itself on this host, a remote shell on others.  Returns false after
 * printing the reason. */
bool remote_agent_start(struct remote_agent *agent);

/** Writes the remote shell's command line, such as "ssh -o BatchMode=yes b", for a message to the
 * user. */
void remote_agent_command(const struct remote_agent *agent, char *text, size_t size);

#endif
