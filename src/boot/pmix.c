/* SPDX-License-Identifier: Apache-2.0 */
/* pmix.c - see pmix.h. */
#include "boot/pmix.h"

#include <dlfcn.h>
#include <pmix.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define PMIX_LIBRARY "libpmix.so.2"

/* The functions of the library that are used, set when it is loaded. */
static struct {
    void *library;
    int (*initialized)(void);
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
static bool        pmix_connected; /* PMIx_Init has been called, and PMIx_Finalize has not */
static bool        pmix_shared;    /* MPI, or another user in this process, was connected before */

/* ---- the library ------------------------------------------------------------ */

static bool pmix_launcher_find_symbol(void *function, const char *name)
{
    *(void **)function = dlsym(pmix.library, name);
    return *(void **)function != NULL;
}

const char *ski_pmix_missing(void)
{
    if (pmix.library)
        return NULL;
    pmix.library = dlopen(PMIX_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!pmix.library)
        return PMIX_LIBRARY " was not found";
    if (pmix_launcher_find_symbol(&pmix.initialized, "PMIx_Initialized") &&
        pmix_launcher_find_symbol(&pmix.init, "PMIx_Init") &&
        pmix_launcher_find_symbol(&pmix.finalize, "PMIx_Finalize") &&
        pmix_launcher_find_symbol(&pmix.put, "PMIx_Put") &&
        pmix_launcher_find_symbol(&pmix.commit, "PMIx_Commit") &&
        pmix_launcher_find_symbol(&pmix.fence, "PMIx_Fence") &&
        pmix_launcher_find_symbol(&pmix.get, "PMIx_Get") &&
        pmix_launcher_find_symbol(&pmix.on_event, "PMIx_Register_event_handler") &&
        pmix_launcher_find_symbol(&pmix.error, "PMIx_Error_string"))
        return NULL;
    dlclose(pmix.library);
    pmix.library = NULL;
    return PMIX_LIBRARY " lacks functions that Skua needs";
}

bool ski_pmix_launcher_present(void)
{
    return getenv("PMIX_NAMESPACE") && getenv("PMIX_RANK");
}

static skua_status pmix_launcher_failed(const char *what, pmix_status_t status)
{
    return ski_fail(SKUA_ERR_SYSTEM, "PMIx: %s: %s", what, pmix.error(status));
}

/* ---- when the launcher dies -------------------------------------------------------- */

/* A thread of PMIx calls this when the connection to the server is lost, whatever the PEs do. */
static void pmix_launcher_on_lost(size_t id, pmix_status_t status, const pmix_proc_t *source,
                                  pmix_info_t info[], size_t n, pmix_info_t *results, size_t m,
                                  pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id, (void)status, (void)source, (void)info, (void)n, (void)results, (void)m, (void)done,
        (void)arg;
    raise(SIGKILL);
}

static void pmix_launcher_watch_server(void)
{
    pmix_status_t lost = PMIX_ERR_LOST_CONNECTION;

    pmix.on_event(&lost, 1, NULL, 0, pmix_launcher_on_lost, NULL, NULL);
}

/* ---- what the launcher knows --------------------------------------------------- */

/* PMIx allows any thread to call PMIx_Get(); but when two threads call it at the same time,
 * versions 4.1 and 4.2 sometimes return a value without a type, or none.  So calls take turns. */
static pmix_status_t pmix_launcher_ask(const pmix_proc_t *whose, const char *key,
                                       pmix_value_t **value)
{
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    pmix_status_t          status;

    *value = NULL;
    pthread_mutex_lock(&turn);
    status = pmix.get(whose, key, NULL, 0, value);
    pthread_mutex_unlock(&turn);
    return status == PMIX_SUCCESS && !*value ? PMIX_ERR_NOT_FOUND : status;
}

/* Returns the value of @p key for the job, which the caller frees; NULL if the launcher has none or
 * one of another type. */
static pmix_value_t *pmix_launcher_job_value(const char *key, pmix_data_type_t type)
{
    pmix_proc_t   all = self;
    pmix_value_t *value;

    all.rank = PMIX_RANK_WILDCARD;
    if (pmix_launcher_ask(&all, key, &value) != PMIX_SUCCESS)
        return NULL;
    if (value->type == type)
        return value;
    free(value);
    return NULL;
}

static uint32_t pmix_launcher_job_size(void)
{
    pmix_value_t *value = pmix_launcher_job_value(PMIX_JOB_SIZE, PMIX_UINT32);
    uint32_t      size  = value ? value->data.uint32 : 1;

    free(value);
    return size;
}

static int pmix_launcher_compare_ranks(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Returns the ascending ranks of the processes on this host. */
static int *pmix_launcher_local_ranks(int size, int *local_processes)
{
    pmix_value_t *value = pmix_launcher_job_value(PMIX_LOCAL_PEERS, PMIX_STRING);
    int          *local = ski_malloc((size_t)size * sizeof *local);
    char         *rest  = value ? value->data.string : NULL, *word;

    *local_processes = 0;
    while (*local_processes < size && (word = strsep(&rest, ",")))
        local[(*local_processes)++] = atoi(word);
    qsort(local, (size_t)*local_processes, sizeof *local, pmix_launcher_compare_ranks);
    if (*local_processes == 0) /* the launcher does not say */
        local[(*local_processes)++] = (int)self.rank;
    if (value)
        free(value->data.string);
    free(value);
    return local;
}

static bool pmix_launcher_is_one_host(void)
{
    pmix_value_t *value = pmix_launcher_job_value(PMIX_NUM_NODES, PMIX_UINT32);
    bool          one   = value && value->data.uint32 == 1;

    free(value);
    return one;
}

static skua_status pmix_launcher_barrier(void)
{
    pmix_status_t status = pmix.fence(NULL, 0, NULL, 0); /* without data, which get() fetches */

    return status == PMIX_SUCCESS ? SKUA_OK : pmix_launcher_failed("a fence", status);
}

/* ---- exchange of data -------------------------------------------------------------- */

static skua_status pmix_launcher_put(const char *key, const void *data, size_t bytes)
{
    pmix_value_t  value  = {.type = PMIX_BYTE_OBJECT, .data.bo = {(char *)(uintptr_t)data, bytes}};
    pmix_status_t status = pmix.put(PMIX_GLOBAL, key, &value);

    if (status == PMIX_SUCCESS)
        status = pmix.commit();
    return status == PMIX_SUCCESS ? SKUA_OK : pmix_launcher_failed(key, status);
}

static skua_status pmix_launcher_get(int process, const char *key, void *data, size_t *bytes)
{
    pmix_proc_t   whose = self;
    pmix_value_t *value;
    pmix_status_t status;
    size_t        room = *bytes;
    bool          valid;

    whose.rank = (pmix_rank_t)process;
    status     = pmix_launcher_ask(&whose, key, &value);
    if (status != PMIX_SUCCESS)
        return ski_fail(SKUA_ERR_UNREACH, "PMIx: process %d has no %s: %s", process, key,
                        pmix.error(status));
    valid = value->type == PMIX_BYTE_OBJECT && value->data.bo.size <= room;
    if (valid) {
        *bytes = value->data.bo.size;
        memcpy(data, value->data.bo.bytes, *bytes);
    }
    if (value->type == PMIX_BYTE_OBJECT)
        free(value->data.bo.bytes);
    free(value);
    return valid ? SKUA_OK
                 : ski_fail(SKUA_ERR_INVAL, "PMIx: the %s of process %d is invalid", key, process);
}

/* ---- beginning and end ------------------------------------------------------------ */

static skua_status pmix_launcher_begin(int *rank, int *size, int **local, int *local_processes,
                                       bool *one_host)
{
    const char   *missing = ski_pmix_missing();
    pmix_status_t began;

    if (missing)
        return ski_fail(SKUA_ERR_UNSUPPORTED,
                        "started by a PMIx launcher, but PMIx cannot be used: %s", missing);
    if (!pmix_connected) {
        pmix_shared = pmix.initialized();
        began       = pmix.init(&self, NULL, 0);
        if (began != PMIX_SUCCESS)
            return pmix_launcher_failed("PMIx_Init", began);
        pmix_connected = true;
        pmix_launcher_watch_server();
    }
    *rank     = (int)self.rank;
    *size     = (int)pmix_launcher_job_size();
    *local    = pmix_launcher_local_ranks(*size, local_processes);
    *one_host = pmix_launcher_is_one_host();
    return SKUA_OK;
}

static void pmix_launcher_disconnect(void)
{
    if (pmix_connected)
        pmix.finalize(NULL, 0);
    pmix_connected = false;
}

/* A server does not take part in fences of a process that connects once more, so the process stays
 * connected between phases. Where MPI is connected, too, its connection lasts, and Skua's ends with
 * the phase: MPI_Finalize() of Open MPI unloads handlers that PMIx calls if it is still in use. */
static void pmix_launcher_end(bool last)
{
    static bool at_exit;

    if (last || pmix_shared)
        pmix_launcher_disconnect();
    else if (!at_exit)
        at_exit = atexit(pmix_launcher_disconnect) == 0;
}

const struct ski_external_launcher ski_pmix_launcher = {pmix_launcher_begin, pmix_launcher_end,
                                                        pmix_launcher_barrier, pmix_launcher_put,
                                                        pmix_launcher_get};
