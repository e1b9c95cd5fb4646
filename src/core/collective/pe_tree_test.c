/* SPDX-License-Identifier: Apache-2.0 */
/* pe_tree_test.c - trees over jobs of random hosts reach each PE once and each host once; parents
 * and children agree. */
#include "core/collective/pe_tree.h"

#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "core/collective/broadcast_tree.h"
#include "tests/tap.h"

#define MIB       ((size_t)1 << 20)
#define PROCESSES 12
#define ROUNDS    60

static uint64_t pe_tree_test_seed;

static int pe_tree_test_below(int n)
{
    return (int)(tap_random(&pe_tree_test_seed) % (uint64_t)n);
}

/* A job as each of its hosts sees it. */
struct pe_tree_test_job {
    struct ski_arena *arena;
    struct ski_job   *of[PROCESSES]; /* by host */
    int               pes, hosts;
};

/* Creates the view of the host whose first process is @p leader[process]. */
static void pe_tree_test_view(struct pe_tree_test_job *job, const int *leader, int processes,
                              int per_process, int first)
{
    int                   local[PROCESSES], n = 0;
    struct ski_job       *made;
    struct ski_job_params plan = {.pes             = job->pes,
                                  .pes_per_process = per_process,
                                  .local           = local,
                                  .leader          = leader,
                                  .pin             = "none"};

    for (int i = 0; i < processes; i++)
        if (leader[i] == first)
            local[n++] = i;
    plan.local_processes = n;
    if (ski_job_create(job->arena, &plan, &made) != SKUA_OK)
        abort();
    job->hosts                 = made->hosts;
    job->of[made->host_number] = made;
}

/* Creates a job whose processes are spread over hosts at random. */
static void pe_tree_test_begin(struct pe_tree_test_job *job)
{
    int processes = 1 + pe_tree_test_below(PROCESSES), per_process = 1 + pe_tree_test_below(3);
    int hosts = 1 + pe_tree_test_below(processes), leader[PROCESSES], first[PROCESSES];

    memset(first, -1, sizeof first);
    for (int i = 0; i < processes; i++) {
        int host = pe_tree_test_below(hosts);

        if (first[host] < 0)
            first[host] = i;
        leader[i] = first[host];
    }
    job->pes = processes * per_process - pe_tree_test_below(per_process);
    for (int i = 0; i < processes; i++)
        if (leader[i] == i)
            pe_tree_test_view(job, leader, processes, per_process, i);
}

static struct ski_job *pe_tree_test_job_of(const struct pe_tree_test_job *job, int pe)
{
    return job->of[ski_job_host_of(job->of[0], pe)];
}

/* What a walk over a tree has met. */
struct pe_tree_test_walk {
    const struct pe_tree_test_job *job;
    int                            root, arity, met, entries;
    bool                           agrees;
};

/* Counts the child @p child of @p pe, whose parent is @p parent as it computes it. */
static void pe_tree_test_meet(struct pe_tree_test_walk *walk, int pe, int child, int parent)
{
    const struct ski_job *job = walk->job->of[0];

    walk->agrees = walk->agrees && child != walk->root && parent == pe;
    walk->entries += ski_job_host_of(job, pe) != ski_job_host_of(job, child);
    walk->met++;
}

static void pe_tree_test_descend(struct pe_tree_test_walk *walk, int pe)
{
    struct ski_pe_tree tree =
        ski_pe_tree_at(pe_tree_test_job_of(walk->job, pe), pe, walk->root, walk->arity);

    walk->agrees = walk->agrees && ski_pe_tree_is_root(&tree) == (pe == walk->root);
    for (int i = 0; i < tree.children && walk->met < walk->job->pes; i++) {
        int                child = ski_pe_tree_child(&tree, i);
        struct ski_pe_tree below =
            ski_pe_tree_at(pe_tree_test_job_of(walk->job, child), child, walk->root, walk->arity);

        pe_tree_test_meet(walk, pe, child, ski_pe_tree_parent(&below));
        pe_tree_test_descend(walk, child);
    }
}

static struct ski_broadcast_tree pe_tree_test_broadcast(const struct pe_tree_test_walk *walk,
                                                        int                             pe)
{
    return ski_broadcast_tree_at(pe_tree_test_job_of(walk->job, pe), pe, walk->root, walk->arity,
                                 2);
}

static void pe_tree_test_broadcast_from(struct pe_tree_test_walk *walk, int pe)
{
    struct ski_broadcast_tree tree = pe_tree_test_broadcast(walk, pe);

    for (int i = 0; i < tree.children && walk->met < walk->job->pes; i++) {
        int                       child = ski_broadcast_tree_child(&tree, i);
        struct ski_broadcast_tree below = pe_tree_test_broadcast(walk, child);

        pe_tree_test_meet(walk, pe, child, ski_broadcast_tree_parent(&below));
        pe_tree_test_broadcast_from(walk, child);
    }
}

/* Each PE but the root is met once; as a tree has one parent for each, none is met twice. */
static bool pe_tree_test_whole(const struct pe_tree_test_walk *walk)
{
    return walk->agrees && walk->met == walk->job->pes - 1 && walk->entries == walk->job->hosts - 1;
}

int main(void)
{
    struct pe_tree_test_job job = {0};
    int                     fd, whole = 0, broadcast = 0, tried = 0;

    ski_config_load();
    pe_tree_test_seed = tap_seed();
    for (int round = 0; round < ROUNDS; round++) {
        if (ski_arena_create(16 * MIB, 0, MIB, &job.arena, &fd) != SKUA_OK)
            return 1;
        pe_tree_test_begin(&job);
        for (int root = 0; root < job.pes; root++) {
            struct pe_tree_test_walk walk  = {&job, root, 1 + pe_tree_test_below(5), 0, 0, true};
            struct pe_tree_test_walk other = walk;

            pe_tree_test_descend(&walk, root);
            pe_tree_test_broadcast_from(&other, root);
            whole += pe_tree_test_whole(&walk);
            broadcast += pe_tree_test_whole(&other);
            tried++;
        }
        ski_arena_detach(job.arena);
        close(fd);
    }
    OK(whole == tried, "%d trees reach each PE once and enter each host once", tried);
    OK(broadcast == tried, "so do those of broadcasts");
    return tap_end();
}
