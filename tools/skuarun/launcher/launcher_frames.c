/* SPDX-License-Identifier: Apache-2.0 */
/* launcher_frames.c - see launcher_frames.h. */
#include "launcher/launcher_frames.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <skua/time.h>

#include "base/memory.h"
#include "protocol/kvs.h"

static bool launcher_on_hello(struct launcher *l, struct remote_agent *agent,
                              const struct frame *frame)
{
    struct frame_hello ours = frame_make_hello(), theirs;

    memcpy(&theirs, frame->data, sizeof theirs);
    agent->said_hello = true;
    agent->machine    = theirs.machine;
    agent->last_heard = skua_time();
    if (memcmp(&ours, &theirs, offsetof(struct frame_hello, machine)) != 0)
        launcher_fail(l, 1,
                      "host %s runs skuarun %.24s, this host runs %s: install one version on both",
                      agent->host->name, theirs.version, ours.version);
    else if (++l->said_hello == l->agents && !l->monitor.failed)
        launcher_send_specs(l);
    return true;
}

static bool launcher_on_output(struct remote_agent *agent, const struct iof_output *output,
                               const struct frame *frame)
{
    iof_output_write(output, frame->data, frame->bytes);
    agent->unacked += (int)frame->bytes;
    return true;
}

static bool launcher_on_put(struct launcher *l, struct remote_agent *agent,
                            const struct frame *frame)
{
    struct ski_control head;

    return kvs_decode(SKI_CONTROL_PUT, l->map.processes, frame->data, frame->bytes, &head) &&
           launcher_owns(l, agent, head.process) &&
           kvs_put(l->kvs, &head, frame->data + sizeof head);
}

static bool launcher_on_get(struct launcher *l, struct remote_agent *agent,
                            const struct frame *frame)
{
    struct ski_control head;

    return kvs_decode(SKI_CONTROL_GET, l->map.processes, frame->data, frame->bytes, &head) &&
           kvs_get(l->kvs, &head, (int)(agent - l->agent)) != KVS_FULL;
}

static bool launcher_on_exited(struct launcher *l, struct remote_agent *agent,
                               const struct frame *frame)
{
    struct exit_report report;

    memcpy(&report, frame->data, sizeof report);
    if (!launcher_owns(l, agent, report.process) || agent->running == 0)
        return false;
    agent->running--;
    monitor_process_exited(&l->monitor, &report);
    return true;
}

static bool launcher_on_reason(struct launcher *l, struct remote_agent *agent,
                               const struct frame *frame)
{
    int process = frame_number(frame);

    if (!launcher_owns(l, agent, process) || l->reason[process])
        return false;
    l->reason[process] = strndup(frame->data + 4, frame->bytes - 4);
    launcher_report_blamed(l);
    return true;
}

static bool launcher_on_failed(struct launcher *l, struct remote_agent *agent,
                               const struct frame *frame)
{
    char host[256];

    if (frame->bytes == 4)
        monitor_fail(&l->monitor, frame_number(frame));
    else
        launcher_fail(l, frame_number(frame), "%s%.*s", launcher_host_prefix(l, agent, host),
                      (int)frame->bytes - 4, frame->data + 4);
    return true;
}

/* The processes of an agent have completed a generation: the job has completed what all have. */
static bool launcher_on_generation(struct launcher *l, struct remote_agent *agent,
                                   const struct frame *frame)
{
    struct image_record record;
    uint64_t            least = UINT64_MAX;

    memcpy(&record, frame->data, sizeof record);
    agent->generation = record.generation;
    for (int i = 0; i < l->map.processes; i++)
        least = launcher_agent_of(l, i)->generation < least ? launcher_agent_of(l, i)->generation
                                                            : least;
    if (l->monitor.recovering)
        return true;
    if (recovery_completed(&l->recovery, least))
        launcher_signal_all(l, SIGUSR1); /* makes the checkpoint of the resize due again */
    if (recovery_may_resize(&l->recovery) && !l->monitor.failed)
        monitor_end_epoch(&l->monitor);
    return true;
}

/* The processes of an agent have joined the job. */
static bool launcher_on_all_joined(struct launcher *l, struct remote_agent *agent)
{
    bool all = true;

    agent->all_joined = true;
    for (int i = 0; i < l->map.processes; i++)
        all &= launcher_agent_of(l, i)->all_joined;
    if (all && !l->monitor.recovering && recovery_joined(&l->recovery))
        launcher_signal_all(l, SIGUSR1); /* makes the checkpoint of the resize due again */
    return true;
}

static bool launcher_record_valid(const struct image_record *r)
{
    return r->generation > 0 && r->processes >= 1 && r->processes <= SKI_JOB_PES_MAX &&
           r->pes >= 1 && r->pes <= SKI_JOB_PES_MAX && r->process >= 0 && r->process < r->processes;
}

static bool launcher_on_idle(const struct launcher *l, struct remote_agent *agent,
                             const struct frame *frame)
{
    if (!l->recovery.on || frame->bytes % sizeof *agent->record || agent->running > 0 ||
        agent->idle)
        return false;
    free(agent->record);
    agent->idle    = true;
    agent->records = (int)(frame->bytes / sizeof *agent->record);
    agent->record  = ski_malloc(frame->bytes + 1); /* one byte more: never NULL */
    memcpy(agent->record, frame->data, frame->bytes);
    for (int i = 0; i < agent->records; i++)
        if (!launcher_record_valid(&agent->record[i]))
            return false;
    return true;
}

bool launcher_on_frame(struct launcher *l, struct remote_agent *agent, const struct frame *frame)
{
    if (agent->said_hello == (frame->kind == FRAME_HELLO))
        return false;
    switch (frame->kind) {
    case FRAME_HELLO: return launcher_on_hello(l, agent, frame);
    case FRAME_STDOUT: return launcher_on_output(agent, &agent->out, frame);
    case FRAME_STDERR: return launcher_on_output(agent, &agent->errors, frame);
    case FRAME_PUT: return launcher_on_put(l, agent, frame);
    case FRAME_GET: return launcher_on_get(l, agent, frame);
    case FRAME_EXITED: return launcher_on_exited(l, agent, frame);
    case FRAME_REASON: return launcher_on_reason(l, agent, frame);
    case FRAME_FAILED: return launcher_on_failed(l, agent, frame);
    case FRAME_STDIN_READY: l->stdin_ready |= launcher_owns(l, agent, 0); return true;
    case FRAME_JOINED: monitor_joined(&l->monitor, (uint32_t)frame_number(frame)); return true;
    case FRAME_ALL_JOINED: return launcher_on_all_joined(l, agent);
    case FRAME_EXITING: monitor_exiting(&l->monitor, frame_number(frame)); return true;
    case FRAME_GENERATION: return launcher_on_generation(l, agent, frame);
    case FRAME_IDLE: return launcher_on_idle(l, agent, frame);
    case FRAME_PONG: return true;
    case FRAME_RESIZE: launcher_resize(l, frame_number(frame)); return true;
    default: return false;
    }
}
