/* SPDX-License-Identifier: Apache-2.0 */
/* pmix.c - see pmix.h. */
#include "boot/pmix.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pmix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/topology.h"

#define LIBRARY "libpmix.so.2"

/* Where the first process of a host has its arena. */
struct where {
    int pid, fd;
};

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
    pmix_status_t (*on_event)(pmix_status_t codes[], size_t n, pmix_info_t info[], size_t m,
                              pmix_notification_fn_t fn, pmix_hdlr_reg_cbfunc_t done, void *arg);
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
        find(&pmix.on_event, "PMIx_Register_event_handler") &&
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

/* ---- when the launcher dies -------------------------------------------------------- */

/* A thread of PMIx calls this, whatever our PEs are computing. */
static void on_lost(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                    size_t n, pmix_info_t *results, size_t m,
                    pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id, (void)status, (void)source, (void)info, (void)n, (void)results, (void)m, (void)done,
        (void)arg;
    raise(SIGKILL);
}

static void die_with_launcher(void)
{
    pmix_status_t lost = PMIX_ERR_LOST_CONNECTION;

    pmix.on_event(&lost, 1, NULL, 0, on_lost, NULL, NULL);
}

/* ---- what the launcher knows --------------------------------------------------- */

/* What the launcher says about the job under @p key; NULL: nothing, or of another type.
 * The caller frees it. */
static pmix_value_t *about_job(const char *key, pmix_data_type_t type)
{
    pmix_proc_t   all = self;
    pmix_value_t *value;

    all.rank = PMIX_RANK_WILDCARD;
    if (pmix.get(&all, key, NULL, 0, &value) != PMIX_SUCCESS)
        return NULL;
    if (value->type == type)
        return value;
    free(value);
    return NULL;
}

static uint32_t job_size(void)
{
    pmix_value_t *value = about_job(PMIX_JOB_SIZE, PMIX_UINT32);
    uint32_t      size  = value ? value->data.uint32 : 1;

    free(value);
    return size;
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* The processes of this host, ascending. */
static int *find_near(int size, int *here)
{
    pmix_value_t *value = about_job(PMIX_LOCAL_PEERS, PMIX_STRING);
    int          *near  = ski_malloc((size_t)size * sizeof *near);
    char         *rest  = value ? value->data.string : NULL, *word;

    *here = 0;
    while (*here < size && (word = strsep(&rest, ",")))
        near[(*here)++] = atoi(word);
    qsort(near, (size_t)*here, sizeof *near, by_number);
    if (*here == 0) /* nobody, or the launcher does not know */
        near[(*here)++] = (int)self.rank;
    if (value)
        free(value->data.string);
    free(value);
    return near;
}

static bool all_on_one_host(void)
{
    pmix_value_t *value = about_job(PMIX_NUM_NODES, PMIX_UINT32);
    bool          one   = value && value->data.uint32 == 1;

    free(value);
    return one;
}

skua_status_t ski_pmix_barrier(void)
{
    pmix_status_t status = pmix.fence(NULL, 0, NULL, 0); /* of nothing: what is needed is got */

    return status == PMIX_SUCCESS ? SKUA_OK : failed("a fence", status);
}

/* ---- telling each other ---------------------------------------------------------- */

static skua_status_t publish(pmix_scope_t scope, const char *key, const void *data, size_t bytes)
{
    pmix_value_t  value  = {.type = PMIX_BYTE_OBJECT, .data.bo = {(char *)(uintptr_t)data, bytes}};
    pmix_status_t status = pmix.put(scope, key, &value);

    if (status == PMIX_SUCCESS)
        status = pmix.commit();
    return status == PMIX_SUCCESS ? SKUA_OK : failed(key, status);
}

skua_status_t ski_pmix_put(const char *key, const void *data, size_t bytes)
{
    return publish(PMIX_GLOBAL, key, data, bytes);
}

skua_status_t ski_pmix_get(int process, const char *key, void *data, size_t *bytes)
{
    pmix_proc_t   whose = self;
    pmix_value_t *value;
    pmix_status_t status;
    size_t        room = *bytes;

    whose.rank = (pmix_rank_t)process;
    status     = pmix.get(&whose, key, NULL, 0, &value);
    if (status != PMIX_SUCCESS)
        return ski_refuse(SKUA_ERR_UNREACH, "PMIx: process %d does not say its %s: %s", process,
                          key, pmix.error(status));
    if (value->type != PMIX_BYTE_OBJECT || value->data.bo.size > room) {
        free(value);
        return ski_refuse(SKUA_ERR_INVAL, "PMIx: the %s of process %d makes no sense", key,
                          process);
    }
    *bytes = value->data.bo.size;
    memcpy(data, value->data.bo.bytes, *bytes);
    free(value->data.bo.bytes);
    free(value);
    return SKUA_OK;
}

/* ---- the arena ------------------------------------------------------------------ */

/* Whether the launcher has bound us to a part of the host's CPUs, which are in
 * @p topology. */
static bool is_bound(struct ski_topology *topology)
{
    return ski_topology_load(topology) == SKUA_OK &&
           topology->cpus < (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* The secret of the job: process 0 makes it up, one process of each host asks.  (What
 * has not been put yet is not waited for, so there is a barrier between.) */
static skua_status_t agree_on_secret(bool ask, uint64_t secret[2])
{
    size_t        bytes  = 2 * sizeof *secret;
    skua_status_t status = SKUA_OK;

    if (self.rank == 0 && getrandom(secret, bytes, 0) != (ssize_t)bytes)
        return ski_refuse(SKUA_ERR_SYSTEM, "no random numbers: %s", strerror(errno));
    if (self.rank == 0)
        status = ski_pmix_put("skua.secret", secret, bytes);
    if (status == SKUA_OK)
        status = ski_pmix_barrier();
    if (status == SKUA_OK && ask && self.rank != 0)
        status = ski_pmix_get(0, "skua.secret", secret, &bytes);
    return status;
}

/* The first process of a host makes the arena and the job, and says where. */
static skua_status_t make(struct ski_boot *boot, struct ski_plan *plan, int *fd)
{
    struct ski_topology topology = {0};
    struct where        where;

    if (is_bound(&topology))
        plan->pin = "none", plan->cpu = NULL;
    ski_topology_free(&topology);

    if (ski_boot_arena(&boot->arena, fd) != SKUA_OK ||
        ski_job_create(boot->arena, plan, &boot->job) != SKUA_OK)
        return SKUA_ERR_NOMEM;
    boot->job->starter = getppid(); /* the launcher's, whose children we all are */
    where              = (struct where){(int)getpid(), *fd};
    return plan->here > 1 ? publish(PMIX_LOCAL, "skua.arena", &where, sizeof where) : SKUA_OK;
}

/* The others open it. */
static skua_status_t attach(struct ski_boot *boot, int maker)
{
    struct where  where;
    size_t        bytes  = sizeof where;
    skua_status_t status = ski_pmix_get(maker, "skua.arena", &where, &bytes);
    char          path[64];
    int           fd;

    if (status != SKUA_OK)
        return status;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", where.pid, where.fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return ski_refuse(SKUA_ERR_SYSTEM, "cannot open the arena of process %d at %s: %s", maker,
                          path, strerror(errno));
    status = ski_arena_attach(fd, &boot->arena);
    close(fd);
    if (status != SKUA_OK)
        return status;
    boot->job = ski_job_of(boot->arena);
    if (!ski_boot_is_here(boot))
        return ski_refuse(SKUA_ERR_INVAL, "the arena holds no job with a process %d",
                          boot->process);
    ski_clock_set(&boot->job->clock);
    return SKUA_OK;
}

/* Where the launcher has bound us, our PEs stay, each on a CPU if there are
 * enough. */
static void keep_binding(struct ski_boot *boot)
{
    struct ski_job     *job      = boot->job;
    int                 first    = ski_job_index(job, ski_job_first_pe(job, boot->process));
    int                 pes      = ski_job_pes_of(job, boot->process);
    struct ski_topology topology = {0};

    if (strcmp(ski_config.pin, "auto") == 0 && is_bound(&topology) && topology.cpus >= pes)
        memcpy(job->cpu + first, topology.cpu, (size_t)pes * sizeof *topology.cpu);
    ski_topology_free(&topology);
}

/* Where processes of one host keep apart, each takes its part of the CPUs. */
static skua_status_t keep_apart(struct ski_plan *plan, int *near, int *cpu)
{
    skua_status_t status = ski_topology_place(plan->pin, plan->here * plan->pes_per_process, cpu);

    for (int i = 0; i < plan->here; i++)
        if (near[i] == (int)self.rank)
            plan->cpu = cpu + i * plan->pes_per_process;
    near[0]    = (int)self.rank;
    plan->here = 1;
    return status;
}

/* Makes the job or joins it; PMIx has begun. */
static skua_status_t join(struct ski_boot *boot, struct ski_plan *plan, int *fd)
{
    bool          makes  = plan->near[0] == boot->process;
    bool          spread = plan->here < plan->pes / plan->pes_per_process;
    skua_status_t status = spread ? agree_on_secret(makes, plan->secret) : SKUA_OK;

    if (status == SKUA_OK && makes)
        status = make(boot, plan, fd);
    if (status == SKUA_OK)
        status = ski_pmix_barrier();
    if (status == SKUA_OK && !makes)
        status = attach(boot, plan->near[0]);
    if (status == SKUA_OK)
        keep_binding(boot);
    return status == SKUA_OK ? ski_pmix_barrier()
                             : status; /* all have it, and say where they run */
}

skua_status_t ski_pmix_start(struct ski_boot *boot)
{
    const char     *missing = ski_pmix_missing();
    int             threads = (int)ski_config.threads, fd = -1, *near, *cpu;
    struct ski_plan plan = {.pes_per_process = threads, .pin = ski_config.pin};
    pmix_status_t   began;
    skua_status_t   status;

    if (missing)
        return ski_refuse(SKUA_ERR_UNSUPPORTED,
                          "started by a PMIx launcher, but PMIx cannot be used: %s", missing);
    began = pmix.init(&self, NULL, 0);
    if (began != PMIX_SUCCESS)
        return failed("PMIx_Init", began);
    die_with_launcher();
    boot->process = (int)self.rank;
    plan.pes      = (int)job_size() * threads;
    plan.near = near = find_near((int)job_size(), &plan.here);
    plan.one_host    = all_on_one_host();
    cpu              = ski_malloc((size_t)(plan.here * threads) * sizeof *cpu);
    status           = ski_config.share ? SKUA_OK : keep_apart(&plan, near, cpu);
    if (status == SKUA_OK)
        status = join(boot, &plan, &fd);
    free(cpu);
    free(near);
    if (fd >= 0)
        close(fd);
    return status;
}

void ski_pmix_end(void)
{
    pmix.finalize(NULL, 0);
}
