/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_test.c - numbers and local indices of PEs and processes convert into each other: in a job on
 * one host, and in one of which only some processes are on this host.
 */
#include "boot/job.h"

#include <unistd.h>

#include "base/config.h"
#include "base/siphash.h"
#include "base/topology.h"
#include "tests/tap.h"

#define MIB ((size_t)1 << 20)

/* Returns whether every index has a PE that has this index, in ascending order within both kinds of
 * PEs. */
static bool job_test_indices(const struct ski_job *job)
{
    int all = ski_job_all_local(job), found = 0;

    for (int index = 0; index < all; index++) {
        int pe = ski_job_pe_at(job, index);

        if (pe < 0 || pe >= ski_job_all(job) || ski_job_index(job, pe) != index ||
            !ski_job_has_process(job, ski_job_process_of(job, pe)))
            return false;
    }
    for (int pe = 0; pe < ski_job_all(job); pe++)
        found += ski_job_index(job, pe) >= 0;
    return found == all;
}

static void test_job_one_host(struct ski_arena *arena)
{
    struct ski_job_params plan = {.pes = 7, .pes_per_process = 2, .pin = "none"};
    struct ski_job       *job;

    OK(ski_job_create(arena, &plan, &job) == SKUA_OK && ski_job_of(arena) == job,
       "7 PEs, two in a process");
    OK(job->processes == 4 && job->local_processes == 4 && job->local_pes == 7 && job->one_host &&
           !ski_job_is_distributed(job),
       "are 4 processes on this host");
    OK(ski_job_pes_of(job, 0) == 2 && ski_job_pes_of(job, 3) == 1, "the last process has one PE");
    OK(ski_job_all(job) == 15 && ski_job_progress_pe(job, 3) == 13 &&
           ski_job_external_pe(job, 3) == 14,
       "each process has two hidden PEs");
    OK(ski_job_process_of(job, 6) == 3 && ski_job_process_of(job, 13) == 3 &&
           ski_job_process_of(job, 8) == 0,
       "the processes of PEs and of hidden PEs");
    OK(job_test_indices(job) && ski_job_index(job, 14) == 14, "all indices are numbers");
    OK(job->run_first == 0 && job->run_pes == 15, "all PEs have consecutive indices");
    OK(job->hosts == 1 && ski_job_host_pes(job, 0) == 7 && ski_job_host_pe(job, 0, 6) == 6 &&
           !ski_job_is_mixed(job),
       "one host has all PEs");
    OK(job->cpu[6] == SKI_CPU_ANY && !job->secret, "they are not bound and need no secret");
    OK(job->msg_mark != 0, "messages have a mark");
    OK(!ski_job_exiting(job) && ski_job_exit(job, 5, -3) && !ski_job_exit(job, 6, 4) &&
           ski_job_exit_code(job) == -3 && ski_job_exit_pe(job) == 5,
       "the first request to exit decides the code, and its PE is known");
}

static void test_job_spread(struct ski_arena *arena)
{
    static const int      local[] = {1, 2, 4}, cpu[] = {5, 6, 7, 8, 9, 10, 11, 12};
    struct ski_job_params plan = {.pes             = 14,
                                  .pes_per_process = 3,
                                  .local           = local,
                                  .local_processes = 3,
                                  .cpu             = cpu,
                                  .secret          = {17, 18}};
    struct ski_job       *job;

    OK(ski_job_create(arena, &plan, &job) == SKUA_OK, "processes 1, 2 and 4 of 5 on this host");
    OK(job->processes == 5 && job->local_pes == 8 && ski_job_all_local(job) == 14 &&
           ski_job_is_distributed(job),
       "have 8 of 14 PEs, and 6 hidden ones");
    OK(job_test_indices(job), "all indices are numbers");
    OK(ski_job_index(job, 3) == 0 && ski_job_index(job, 12) == 6 && ski_job_index(job, 0) == -1 &&
           ski_job_index(job, 9) == -1 && ski_job_index(job, ski_job_progress_pe(job, 4)) == 12,
       "indices follow the numbers; PEs of other hosts have none");
    OK(job->hosts == 3 && job->host_number == 1, "the other processes are hosts of their own");
    OK(job->run_first == 3 && job->run_pes == 6, "PEs 3 to 8 have consecutive indices");
    OK(ski_job_has_process(job, 4) && !ski_job_has_process(job, 3) &&
           !ski_job_has_process(job, -1) && !ski_job_has_process(job, 5) &&
           !ski_job_has_process(NULL, 0),
       "processes that are not on this host, or do not exist");
    OK(job->cpu[7] == 12 && ski_job_process(job, 4)->number == 4, "CPUs and records by index");
    OK(job->secret && job->secret[0] == 17 && job->secret[1] == 18 &&
           job->tag_key == job->secret + 2,
       "a spread job has its secret");
    OK(job->msg_mark == ski_siphash(job->secret, (uint64_t[]){0x6b72616d}, 1),
       "from which its hosts derive the mark of messages");
}

/* Processes 0, 2, 4 and 1, 3, 5 share a host each, and process 6 is alone. */
static void test_job_hosts(struct ski_arena *arena)
{
    static const int      local[] = {1, 3, 5}, leader[] = {0, 1, 0, 1, 0, 1, 6};
    struct ski_job_params plan = {.pes             = 13,
                                  .pes_per_process = 2,
                                  .local           = local,
                                  .local_processes = 3,
                                  .leader          = leader,
                                  .pin             = "none"};
    struct ski_job       *job;

    OK(ski_job_create(arena, &plan, &job) == SKUA_OK && job->hosts == 3 && job->host_number == 1 &&
           ski_job_is_mixed(job),
       "three hosts, of which this is the second");
    OK(ski_job_host_of(job, 0) == 0 && ski_job_host_of(job, 7) == 1 &&
           ski_job_host_of(job, 12) == 2 && ski_job_host_of(job, ski_job_progress_pe(job, 6)) == 2,
       "a PE, also a hidden one, has the host of its process");
    OK(ski_job_host_pes(job, 0) == 6 && ski_job_host_pes(job, 2) == 1, "the PEs of a host");
    OK(ski_job_host_pe(job, 0, 3) == 5 && ski_job_host_pe(job, 1, 0) == 2 &&
           ski_job_host_pe(job, 1, 5) == 11 && ski_job_host_pe(job, 2, 0) == 12,
       "are listed in ascending order");
}

int main(void)
{
    struct ski_arena *arena;
    int               fd;

    ski_config_load();
    if (ski_arena_create(16 * MIB, 0, MIB, &arena, &fd) != SKUA_OK)
        return 1;
    OK(!ski_job_of(arena), "a new arena has no job");
    test_job_one_host(arena);
    test_job_spread(arena);
    test_job_hosts(arena);
    ski_arena_detach(arena);
    close(fd);
    return tap_end();
}
