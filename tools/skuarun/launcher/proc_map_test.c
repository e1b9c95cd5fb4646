/* SPDX-License-Identifier: Apache-2.0 */
/* proc_map_test.c - the mapping of processes to agents, and the job specification of each agent. */
#include "launcher/proc_map.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "protocol/job_spec.h"
#include "tests/tap.h"

static char *proc_map_test_command[] = {"app", "argument", NULL};

static struct hosts_entry proc_map_test_host[] = {
    {"a", 4, false, false}, {"b", 6, false, false}, {"c", 3, false, false}};
static const struct hosts proc_map_test_hosts = {proc_map_test_host, 3};

/* 13 PEs in processes of 2: processes 0-1 on a, 2-4 on b, 5-6 on c. */
static const struct run_options proc_map_test_options = {
    .pes = 13, .threads = 2, .exports = "", .command = proc_map_test_command};

static void proc_map_test_agents(void)
{
    int                  count;
    struct remote_agent *agent;
    struct proc_map      map;

    ski_config.shared_memory = true;
    agent = proc_map_create(&proc_map_test_options, &proc_map_test_hosts, &count, &map);
    OK(count == 3, "an agent for each host");
    OK(agent[0].first == 0 && agent[0].running == 2 && agent[1].first == 2 &&
           agent[1].running == 3 && agent[2].first == 5 && agent[2].running == 2 &&
           map.agent_of[1] == 0 && map.agent_of[4] == 1 && map.agent_of[6] == 2,
       "with the processes of its host");
    free(agent);
    proc_map_free(&map);
    ski_config.shared_memory = false;
    agent = proc_map_create(&proc_map_test_options, &proc_map_test_hosts, &count, &map);
    OK(count == 7 && agent[4].first == 4 && agent[4].running == 1 && map.agent_of[4] == 4 &&
           agent[4].host == &proc_map_test_host[1],
       "without shared memory an agent for each process");
    free(agent);
    proc_map_free(&map);
    ski_config.shared_memory = true;
}

/* Sends the specifications and decodes the one that agent[i] receives. */
static bool proc_map_test_receive(const struct proc_map *map, struct remote_agent *agent, int count,
                                  int i, struct job_spec *spec)
{
    struct frame_conn to;
    struct frame      frame;
    int               ends[2], unused[2];
    int               found   = 0;
    bool              decoded = false;

    if (pipe2(ends, O_CLOEXEC) < 0 || pipe2(unused, O_CLOEXEC) < 0)
        return false;
    frame_conn_open(&agent[i].conn, unused[0], ends[1], FRAME_UP);
    frame_conn_open(&to, ends[0], unused[1], FRAME_DOWN);
    if (!proc_map_send_specs(&proc_map_test_options, &proc_map_test_hosts, map, agent, count))
        return false;
    while (frame_conn_read(&to) > 0 && (found = frame_conn_next(&to, &frame)) == 0)
        frame_conn_flush(&agent[i].conn); /* the environment may not fit the pipe */
    if (found > 0)
        decoded = frame.kind == FRAME_SPEC && job_spec_decode(spec, frame.data, frame.bytes);
    frame_conn_close(&agent[i].conn);
    frame_conn_close(&to);
    return decoded;
}

/* Agents on one machine share its CPUs: each learns where its PEs are among them. */
static void proc_map_test_specs(void)
{
    struct remote_agent *agent;
    struct job_spec      spec = {0};
    struct proc_map      map;
    int                  count;

    agent = proc_map_create(&proc_map_test_options, &proc_map_test_hosts, &count, &map);
    for (int i = 0; i < count; i++)
        strcpy(agent[i].machine.boot, i == 1 ? "second" : "first");
    OK(proc_map_test_receive(&map, agent, count, 2, &spec),
       "the third agent receives its specification");
    OK(spec.head.pes == 13 && spec.head.agent == 2 && spec.agent_of[4] == 1 &&
           spec.agent_of[5] == 2 && spec.head.epoch == 0,
       "with its processes");
    OK(spec.head.host_pes == 7 && spec.head.host_first_pe == 4,
       "and the PEs of the first agent, which runs on the same machine");
    OK(strcmp(spec.argument[1], "argument") == 0 && spec.head.argument_count == 2,
       "and the command line");
    job_spec_free(&spec);
    OK(proc_map_test_receive(&map, agent, count, 1, &spec) && spec.head.host_pes == 6 &&
           spec.head.host_first_pe == 0,
       "the second agent has a machine of its own");
    job_spec_free(&spec);
    free(agent);
    proc_map_free(&map);
}

int main(void)
{
    proc_map_test_agents();
    proc_map_test_specs();
    return tap_end();
}
