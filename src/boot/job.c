/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - see job.h. */
#include "boot/job.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/config.h"
#include "base/futex.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/siphash.h"
#include "base/topology.h"

#define JOB_SECRET_BYTES SKI_UNIT_BYTES

_Static_assert(SKI_JOB_PES_MAX == SKI_CONFIG_PES_MAX, "settings have the bound of a job");

/* Sets the local processes, their indices, and the members that follow from these. */
static void job_index_processes(struct ski_job *job, const struct ski_job_params *plan)
{
    int run = 1;

    for (int i = 0; i < job->processes; i++)
        job->local_index[i] = -1;
    for (int i = 0; i < job->local_processes; i++) {
        job->process[i].number                   = plan->local ? plan->local[i] : i;
        job->local_index[job->process[i].number] = i;
        ski_assert(i == 0 || job->process[i].number > job->process[i - 1].number);
        job->local_pes += ski_job_pes_of(job, job->process[i].number);
    }
    while (run < job->local_processes && job->process[run].number == job->process[0].number + run)
        run++;
    ski_assert(job->local_processes > 0);
    job->run_first = ski_job_first_pe(job, job->process[0].number);
    job->run_pes   = 0;
    for (int i = 0; i < run; i++)
        job->run_pes += ski_job_pes_of(job, job->process[i].number);
    if (!ski_job_is_distributed(job))
        job->run_pes = ski_job_all(job); /* with the hidden ones */
    ski_assert(job->local_pes > 0 && job->local_pes <= job->pes);
}

/* Returns the first process of the host of @p process. */
static int job_leader_of(const struct ski_job *job, const struct ski_job_params *plan, int process)
{
    if (job->local_index[process] >= 0)
        return job->process[0].number;
    return plan->leader ? plan->leader[process] : process;
}

/* Numbers the hosts and lists their processes.  A leader is the lowest process of its host, so its
 * host has a number before the others ask for it. */
static void job_index_hosts(struct ski_job *job, const struct ski_job_params *plan)
{
    int32_t *end = job->host_first + 1; /* by host: the end of its processes so far */

    for (int i = 0; i < job->processes; i++) {
        int leader = job_leader_of(job, plan, i);

        ski_assert(leader >= 0 && leader <= i);
        job->host_of[i] = leader == i ? job->hosts++ : job->host_of[leader];
        end[job->host_of[i]]++;
    }
    for (int host = 1; host < job->hosts; host++)
        end[host] += end[host - 1];
    for (int i = job->processes - 1; i >= 0; i--)
        job->host_process[--end[job->host_of[i]]] = i;
    for (int host = 0; host < job->hosts; host++) /* the ends have moved to the beginnings */
        job->host_first[host] = end[host];
    job->host_first[job->hosts] = job->processes;
    ski_assert(job->hosts > 0 && job->host_first[0] == 0);
    job->host_number = job->host_of[job->process[0].number];
}

static skua_status job_make_random(uint64_t *to, size_t count)
{
    size_t bytes = count * sizeof *to;

    if (getrandom(to, bytes, 0) == (ssize_t)bytes)
        return SKUA_OK;
    return ski_fail(SKUA_ERR_SYSTEM, "the system has no random numbers for the key of a host: %s",
                    strerror(errno));
}

/* Sets the use of the arena above which senders must wait.  Processes that share a host but no
 * arena divide its memory between them. */
static void job_set_pressure(struct ski_arena *arena, const struct ski_job *job)
{
    size_t arenas = job->one_host ? (size_t)job->processes / (size_t)job->local_processes : 1;
    size_t bytes  = ski_config.backpressure ? ski_config.backpressure : arena->bytes / 4 * 3;

    ski_arena_set_pressure(arena, ski_config.backpressure ? bytes : bytes / arenas);
}

/* Assigns a CPU to each PE on this host. */
static skua_status job_assign_cpus(struct ski_job *job, const struct ski_job_params *plan)
{
    ski_assert(job->local_pes <= job->local_processes * job->pes_per_process); /* room in cpu[] */
    if (!plan->cpu)
        return ski_topology_assign(plan->pin, job->local_pes, job->pes_per_process, job->cpu);
    memcpy(job->cpu, plan->cpu, (size_t)job->local_pes * sizeof *plan->cpu);
    return SKUA_OK;
}

/* Keeps the secret out of core dumps, which users keep and pass on.  (The process itself stays
 * dumpable: the kernel lets the other processes of the host access its memory on the same terms.)
 */
static void job_hide_secret(const struct ski_job *job)
{
    if (job->secret)
        madvise(job->secret, JOB_SECRET_BYTES, MADV_DONTDUMP); /* a failure leaves it in the dump */
}

/* Allocates a span for the secret and the key of the host, so that no other data is missing in a
 * core dump. */
static skua_status job_make_secret(struct ski_job *job, const uint64_t secret[2])
{
    void       *memory;
    skua_status status = ski_span_alloc(job->arena, JOB_SECRET_BYTES, &memory);

    if (status != SKUA_OK)
        return status;
    ski_assert(!job->secret && ski_arena_contains(job->arena, memory));
    job->secret     = memcpy(memory, secret, 2 * sizeof *secret);
    job->tag_key    = job->secret + 2;
    job->keep_until = (char *)memory + JOB_SECRET_BYTES;
    job_hide_secret(job);
    return job_make_random(job->tag_key, 2);
}

/* Sets the mark of messages, which the hosts of a job derive from what they share. */
static skua_status job_make_msg_mark(struct ski_job *job)
{
    const uint64_t words[] = {UINT64_C(0x6b72616d) /* no other use of the secret has it */};

    if (!job->secret)
        return job_make_random(&job->msg_mark, 1);
    job->msg_mark = ski_siphash(job->secret, words, 1);
    return SKUA_OK;
}

/* Allocates a job with its tables, which are zero. */
static skua_status job_alloc(struct ski_arena *arena, const struct ski_job_params *plan,
                             struct ski_job **job)
{
    int             processes = (plan->pes + plan->pes_per_process - 1) / plan->pes_per_process;
    int             local_processes = plan->local ? plan->local_processes : processes;
    size_t          head  = sizeof **job + (size_t)local_processes * sizeof(struct ski_process);
    size_t          cpus  = (size_t)local_processes * (size_t)plan->pes_per_process;
    size_t          bytes = head + (2 * cpus + 4 * (size_t)processes + 2) * sizeof(int32_t);
    struct ski_job *made;
    void           *memory;
    skua_status     status;

    ski_assert(plan->pes > 0 && plan->pes_per_process > 0 && local_processes <= processes);
    status = ski_span_alloc(arena, bytes, &memory);
    if (status != SKUA_OK)
        return status;
    made                  = memset(memory, 0, bytes);
    made->processes       = processes;
    made->local_processes = local_processes;
    made->cpu             = (int32_t *)(void *)((char *)memory + head);
    made->range           = made->cpu + cpus;
    made->local_index     = made->range + cpus;
    made->host_of         = made->local_index + processes;
    made->host_process    = made->host_of + processes;
    made->host_first      = made->host_process + processes;
    made->keep_until      = (char *)memory + bytes;
    *job                  = made;
    return SKUA_OK;
}

skua_status ski_job_create(struct ski_arena *arena, const struct ski_job_params *plan,
                           struct ski_job **job)
{
    struct ski_job *made;
    skua_status     status = job_alloc(arena, plan, &made);

    if (status != SKUA_OK)
        return status;
    made->arena           = arena;
    made->clock           = ski_clock_get();
    made->pes             = plan->pes;
    made->pes_per_process = plan->pes_per_process;
    made->one_host        = plan->one_host || !plan->local;
    made->cpus_shared     = plan->cpus_shared;
    made->starter         = getpid();
    job_index_processes(made, plan);
    job_index_hosts(made, plan);
    status = job_assign_cpus(made, plan);
    if (status == SKUA_OK && ski_job_is_distributed(made))
        status = job_make_secret(made, plan->secret);
    if (status == SKUA_OK)
        status = job_make_msg_mark(made);
    if (status != SKUA_OK) {
        ski_span_free(arena, made);
        return status;
    }
    job_set_pressure(arena, made);
    atomic_store(&made->phase, 1);
    arena->root = made;
    *job        = made;
    return SKUA_OK;
}

void ski_job_divide_arena(struct ski_job *job)
{
    int *numa;

    if (!ski_config.numa || job->local_pes < 2 || job->cpu[0] == SKI_CPU_ANY)
        return;
    numa = ski_calloc((size_t)job->local_pes, sizeof *numa);
    if (ski_topology_numa_of(job->cpu, job->local_pes, numa) == SKUA_OK)
        ski_arena_divide(job->arena, numa, job->local_pes, job->range);
    free(numa);
}

struct ski_job *ski_job_of(struct ski_arena *arena)
{
    struct ski_job *job = arena->root;

    if (!job || !ski_arena_contains(arena, job) || job->arena != arena)
        return NULL;
    if (job->secret && !ski_arena_contains(arena, job->secret))
        return NULL;
    job_hide_secret(job);
    return job;
}

/* Gives the next phase a secret of its own, the same on all hosts: no key and no sequence of
 * packets is used twice. */
static void job_renew_secret(struct ski_job *job, uint32_t phase)
{
    const uint64_t words[] = {UINT64_C(0x6573616870) /* no other use of the secret has it */,
                              phase};
    uint64_t       next[2];

    ski_assert(job->secret);
    ski_siphash_long(job->secret, words, 2, next);
    memcpy(job->secret, next, sizeof next);
}

void ski_job_next_phase(struct ski_job *job)
{
    uint32_t phase = atomic_load(&job->phase) + 1;

    ski_arena_clear(job->arena, job->keep_until);
    if (job->secret)
        job_renew_secret(job, phase);
    job->host     = NULL;
    job->onesided = NULL;
    job->names    = (struct ski_handler_names){0};
    atomic_store(&job->exit, 0);
    atomic_store(&job->ends, 0);
    job_set_pressure(job->arena, job);
}

void ski_job_open_phase(struct ski_job *job, uint32_t phase)
{
    ski_assert(phase > 0 && phase >= atomic_load(&job->phase));
    /* Pairs with the acquire in boot.c. */
    atomic_store_explicit(&job->phase, phase, memory_order_release);
    ski_futex_wake_all(&job->phase);
}

bool ski_job_exit(struct ski_job *job, int pe, int code)
{
    uint64_t running = 0;
    uint64_t ends    = SKI_JOB_EXIT | (uint32_t)code | (uint64_t)pe << SKI_JOB_EXIT_PE_SHIFT;

    ski_assert(pe >= 0);

    /* Sequentially consistent: see ski_inbox_clear_sleep() in inbox.c. */
    return atomic_compare_exchange_strong(&job->exit, &running, ends);
}
