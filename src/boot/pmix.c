/* SPDX-License-Identifier: Apache-2.0 */
/* pmix.c - see pmix.h. */
#include "boot/pmix.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/topology.h"

#define LIBRARY "libpmix.so.2"
#define KEY     "skua.arena"

/* What we use of the library, found when it is loaded. */
static struct {
    void *library;
    pmix_status_t (*init)(pmix_proc_t *proc, pmix_info_t info[], size_t n);
    pmix_status_t (*finalize)(const pmix_info_t info[], size_t n);
    pmix_status_t (*put)(pmix_scope_t scope, const char key[], pmix_value_t *value);
    pmix_status_t (*commit)(void);
    pmix_status_t (*fence)(const pmix_proc_t procs[], size_t n, const pmix_info_t info[], size_t m);
    pmix_status_t (*get)(const pmix_proc_t *proc, const char key[], const pmix_info_t info[],
                         size_t n, pmix_value_t **value);
    const char *(*error)(pmix_status_t status);
} pmix;

static pmix_proc_t self;

/* ---- the library ------------------------------------------------------------ */

static bool find(void *function, const char *name)
{
    *(void **)function = dlsym(pmix.library, name);
    return *(void **)function != NULL;
}

const char *ski_pmix_missing(void)
{
    if (pmix.library)
        return NULL;
    pmix.library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!pmix.library)
        return LIBRARY " was not found";
    if (find(&pmix.init, "PMIx_Init") && find(&pmix.finalize, "PMIx_Finalize") &&
        find(&pmix.put, "PMIx_Put") && find(&pmix.commit, "PMIx_Commit") &&
        find(&pmix.fence, "PMIx_Fence") && find(&pmix.get, "PMIx_Get") &&
        find(&pmix.error, "PMIx_Error_string"))
        return NULL;
    dlclose(pmix.library);
    pmix.library = NULL;
    return LIBRARY " is of another kind";
}

bool ski_pmix_started_us(void)
{
    return getenv("PMIX_NAMESPACE") && getenv("PMIX_RANK");
}

static skua_status_t failed(const char *what, pmix_status_t status)
{
    return ski_refuse(SKUA_ERR_SYSTEM, "PMIx: %s: %s", what, pmix.error(status));
}

/* ---- what the launcher knows --------------------------------------------------- */

/* A number about the job; @p missing if the launcher does not say. */
static uint32_t number(const char *key, uint32_t missing)
{
    pmix_proc_t   all = self;
    pmix_value_t *value;
    uint32_t      n = missing;

    all.rank = PMIX_RANK_WILDCARD;
    if (pmix.get(&all, key, NULL, 0, &value) != PMIX_SUCCESS)
        return missing;
    if (value->type == PMIX_UINT32)
        n = value->data.uint32;
    free(value);
    return n;
}

skua_status_t ski_pmix_barrier(void)
{
    pmix_info_t   collect = {.value = {.type = PMIX_BOOL, .data.flag = true}};
    pmix_status_t status;

    snprintf(collect.key, sizeof collect.key, "%s", PMIX_COLLECT_DATA);
    status = pmix.fence(NULL, 0, &collect, 1);
    return status == PMIX_SUCCESS ? SKUA_OK : failed("a fence", status);
}

/* ---- the arena ------------------------------------------------------------------ */

/* Whether the launcher has bound us to a part of the host's CPUs, which are in
 * @p topology. */
static bool is_bound(struct ski_topology *topology)
{
    return ski_topology_load(topology) == SKUA_OK &&
           topology->cpus < (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* Process 0 makes the arena and the job, and says where. */
static skua_status_t make(struct ski_boot *boot, int processes, int *fd)
{
    int                 threads  = (int)ski_config.threads;
    struct ski_topology topology = {0};
    bool                bound    = is_bound(&topology);
    char                text[64];
    pmix_value_t        value = {.type = PMIX_STRING, .data.string = text};
    pmix_status_t       status;

    ski_topology_free(&topology);
    if (ski_boot_arena(&boot->arena, fd) != SKUA_OK ||
        ski_job_create(boot->arena, processes * threads, threads, bound ? "none" : ski_config.pin,
                       &boot->job) != SKUA_OK)
        return SKUA_ERR_NOMEM;
    boot->job->starter = getppid(); /* the launcher's, whose children we all are */
    snprintf(text, sizeof text, "%d,%d", (int)getpid(), *fd);
    status = pmix.put(PMIX_LOCAL, KEY, &value);
    if (status == PMIX_SUCCESS)
        status = pmix.commit();
    return status == PMIX_SUCCESS ? SKUA_OK : failed("publishing the arena", status);
}

/* The others open it. */
static skua_status_t attach(struct ski_boot *boot)
{
    pmix_proc_t   first = self;
    pmix_value_t *value;
    pmix_status_t status;
    char          path[64];
    int           pid, theirs, fd;

    first.rank = 0;
    status     = pmix.get(&first, KEY, NULL, 0, &value);
    if (status != PMIX_SUCCESS)
        return failed("where is the arena of process 0", status);
    if (value->type != PMIX_STRING || sscanf(value->data.string, "%d,%d", &pid, &theirs) != 2)
        return ski_refuse(SKUA_ERR_INVAL, "PMIx: process 0 says nothing about its arena");
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, theirs);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return ski_refuse(SKUA_ERR_SYSTEM, "cannot open the arena of process 0 at %s: %s", path,
                          strerror(errno));
    if (ski_arena_attach(fd, &boot->arena) != SKUA_OK)
        return SKUA_ERR_ADDRESS;
    close(fd);
    boot->job = ski_job_of(boot->arena);
    if (!boot->job || boot->process >= boot->job->processes)
        return ski_refuse(SKUA_ERR_INVAL, "the arena holds no job with a process %d",
                          boot->process);
    ski_clock_set(&boot->job->clock);
    return SKUA_OK;
}

/* Where the launcher has bound us, our PEs stay, each on a CPU if there are
 * enough. */
static void keep_binding(struct ski_boot *boot)
{
    const struct ski_process *process  = &boot->job->process[boot->process];
    struct ski_topology       topology = {0};

    if (strcmp(ski_config.pin, "auto") == 0 && is_bound(&topology) && topology.cpus >= process->pes)
        for (int i = 0; i < process->pes; i++)
            boot->job->cpu[process->first_pe + i] = topology.cpu[i];
    ski_topology_free(&topology);
}

skua_status_t ski_pmix_start(struct ski_boot *boot)
{
    const char   *missing = ski_pmix_missing();
    uint32_t      size, here;
    int           fd = -1;
    pmix_status_t began;
    skua_status_t status;

    if (missing)
        return ski_refuse(SKUA_ERR_UNSUPPORTED,
                          "started by a PMIx launcher, but PMIx cannot be used: %s", missing);
    began = pmix.init(&self, NULL, 0);
    if (began != PMIX_SUCCESS)
        return failed("PMIx_Init", began);
    size          = number(PMIX_JOB_SIZE, 1);
    here          = number(PMIX_LOCAL_SIZE, size);
    boot->process = (int)self.rank;
    if (here != size)
        return ski_refuse(SKUA_ERR_UNREACH,
                          "the job has %u processes, but only %u on this host; Skua does not go "
                          "beyond one host yet",
                          size, here);
    status = boot->process == 0 ? make(boot, (int)size, &fd) : SKUA_OK;
    if (status == SKUA_OK)
        status = ski_pmix_barrier();
    if (status == SKUA_OK && boot->process > 0)
        status = attach(boot);
    if (status == SKUA_OK)
        keep_binding(boot);
    if (status == SKUA_OK)
        status = ski_pmix_barrier(); /* all have it, and say where they run */
    if (fd >= 0)
        close(fd);
    return status;
}

void ski_pmix_end(void)
{
    pmix.finalize(NULL, 0);
}
