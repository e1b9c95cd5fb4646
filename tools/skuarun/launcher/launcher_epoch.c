/* SPDX-License-Identifier: Apache-2.0 */
/* launcher_epoch.c - see launcher_epoch.h. */
#include "launcher/launcher_epoch.h"

#include <stdlib.h>
#include <string.h>

#include <skua/time.h>

#include "base/config.h"
#include "base/memory.h"
#include "launcher/placement.h"
#include "protocol/kvs.h"

/* Kills agents that are silent for too long, and sends a PING to the others. */
static void launcher_check_silence(struct launcher *l)
{
    double timeout = ski_config.peer_timeout < 0.2 ? 0.2 : ski_config.peer_timeout;
    double now     = skua_time();
    bool   late    = now - l->next_ping > timeout / 2; /* skuarun itself was stopped */

    if (!l->specs_sent || now < l->next_ping)
        return;
    l->next_ping = now + (timeout < 4 ? timeout / 4 : 1);
    for (struct remote_agent *r = l->agent; r < l->agent + l->agents; r++) {
        if (r->conn.in < 0 || r->conn.out < 0)
            continue;
        if (!late && now - r->last_heard > timeout)
            launcher_kill_agent(r);
        else
            frame_conn_send_number(&r->conn, FRAME_PING, 0, NULL);
    }
}

static bool launcher_epoch_over(const struct launcher *l)
{
    for (int i = 0; i < l->agents; i++)
        if (l->agent[i].conn.in >= 0 && !l->agent[i].idle)
            return false;
    return l->specs_sent;
}

/* Returns the images that the agents hold, in an array that the caller frees. */
static struct image_record *launcher_images(const struct launcher *l, int *count)
{
    struct image_record *all = NULL;

    *count = 0;
    for (int i = 0; i < l->agents; i++) {
        const struct remote_agent *r = &l->agent[i];

        if (r->records == 0)
            continue;
        all = ski_realloc(all, (size_t)(*count + r->records) * sizeof *all);
        memcpy(all + *count, r->record, (size_t)r->records * sizeof *all);
        *count += r->records;
    }
    return all;
}

static void launcher_free_reasons(struct launcher *l)
{
    for (int i = 0; i < l->map.processes; i++)
        free(l->reason[i]);
    free(l->reason);
}

static void launcher_answer(void *arg, int requester, const struct ski_control *head,
                            const char *value)
{
    struct launcher *l = arg;
    frame_conn_send(&l->agent[requester].conn, FRAME_VALUE, head, sizeof *head, value, head->bytes);
}

void launcher_begin_epoch(struct launcher *l)
{
    l->kvs    = kvs_create(KVS_KEYS_PER_PROCESS * (size_t)l->map.processes, launcher_answer, l);
    l->reason = ski_calloc((size_t)l->map.processes, sizeof *l->reason);
    l->blamed = -1;
    l->stdin_ready = true;
    monitor_next_epoch(&l->monitor);
    l->monitor.alive = l->map.processes;
}

void launcher_end_epoch(struct launcher *l)
{
    launcher_free_reasons(l);
    kvs_destroy(l->kvs);
}

/* Lets an agent without processes keep its images of the generation that the epoch restores. */
static void launcher_keep_images(const struct launcher *l, struct remote_agent *agent)
{
    struct image_record keep = {.generation = l->map.generation};
    int                 kept = 0;

    for (int i = 0; i < agent->records; i++)
        if (agent->record[i].generation == keep.generation)
            agent->record[kept++] = agent->record[i];
    agent->records = kept;
    if (agent->conn.in >= 0)
        frame_conn_send(&agent->conn, FRAME_KEEP, &keep, sizeof keep, NULL, 0);
}

/* Agents with processes are busy from now on; the others wait for an epoch that needs them. */
static void launcher_set_idle(struct launcher *l)
{
    for (struct remote_agent *r = l->agent; r < l->agent + l->agents; r++) {
        r->idle       = r->running == 0;
        r->generation = 0;
        r->all_joined = false;
        if (r->idle)
            launcher_keep_images(l, r);
    }
}

/* Maps the processes of the next epoch.  A job that is to have fewer processes than its images need
 * takes several steps: the number is requested again at the next checkpoint. */
static bool launcher_place(struct launcher *l)
{
    struct recovery *r       = &l->recovery;
    int              threads = l->options->threads, wanted = r->pes;
    int              least =
        placement_least(l->agent, l->agents, r->generation, (wanted + threads - 1) / threads);

    if ((least - 1) * threads >= wanted) {
        r->pes = least * threads;
        if (r->resize == 0)
            recovery_resize(r, wanted);
    }
    l->map.epoch      = r->epoch;
    l->map.generation = r->generation;
    return placement_make(&l->map, r->pes, threads, l->agent, l->agents);
}

/* Starts the next epoch.  Returns false if the job cannot continue; the reason has been printed. */
static bool launcher_next_epoch(struct launcher *l)
{
    int                  count;
    struct image_record *record = launcher_images(l, &count);
    bool                 ok;

    ok = recovery_next(&l->recovery, record, count, l->options->threads);
    free(record);
    if (!ok)
        return false;
    launcher_end_epoch(l);
    ok = launcher_place(l);
    launcher_begin_epoch(l);
    if (!ok) {
        l->monitor.alive = 0;
        launcher_fail(l, 1, "no host is left");
        return false;
    }
    launcher_set_idle(l);
    launcher_send_specs(l);
    recovery_started(&l->recovery);
    return true;
}

void launcher_check_epoch(struct launcher *l)
{
    if (!l->recovery.on)
        return;
    launcher_check_silence(l);
    if (!launcher_epoch_over(l) || !launcher_any_open(l))
        return;
    if (monitor_goes_on(&l->monitor) && launcher_next_epoch(l))
        return;
    l->monitor.recovering = false; /* no epoch follows */
    for (int i = 0; i < l->agents; i++)
        frame_conn_end(&l->agent[i].conn); /* the last lines of the agents are still read */
}
