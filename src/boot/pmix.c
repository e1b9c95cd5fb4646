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

#define LIBRARY "libpmix.so.2"

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
    return ski_fail(SKUA_ERR_SYSTEM, "PMIx: %s: %s", what, pmix.error(status));
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

/* PMIx_Get() may be called by any thread, says PMIx; but when two do, versions 4.1 and 4.2 now
 * and then give one of them a value of no type, or none at all.  So one after the other. */
static pmix_status_t ask(const pmix_proc_t *whose, const char *key, pmix_value_t **value)
{
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    pmix_status_t          status;

    *value = NULL;
    pthread_mutex_lock(&turn);
    status = pmix.get(whose, key, NULL, 0, value);
    pthread_mutex_unlock(&turn);
    return status == PMIX_SUCCESS && !*value ? PMIX_ERR_NOT_FOUND : status;
}

/* What the launcher says about the job under @p key; NULL: nothing, or of another type.
 * The caller frees it. */
static pmix_value_t *about_job(const char *key, pmix_data_type_t type)
{
    pmix_proc_t   all = self;
    pmix_value_t *value;

    all.rank = PMIX_RANK_WILDCARD;
    if (ask(&all, key, &value) != PMIX_SUCCESS)
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

static skua_status_t barrier(void)
{
    pmix_status_t status = pmix.fence(NULL, 0, NULL, 0); /* of nothing: what is needed is got */

    return status == PMIX_SUCCESS ? SKUA_OK : failed("a fence", status);
}

/* ---- telling each other ---------------------------------------------------------- */

static skua_status_t put(const char *key, const void *data, size_t bytes)
{
    pmix_value_t  value  = {.type = PMIX_BYTE_OBJECT, .data.bo = {(char *)(uintptr_t)data, bytes}};
    pmix_status_t status = pmix.put(PMIX_GLOBAL, key, &value);

    if (status == PMIX_SUCCESS)
        status = pmix.commit();
    return status == PMIX_SUCCESS ? SKUA_OK : failed(key, status);
}

static skua_status_t get(int process, const char *key, void *data, size_t *bytes)
{
    pmix_proc_t   whose = self;
    pmix_value_t *value;
    pmix_status_t status;
    size_t        room = *bytes;

    whose.rank = (pmix_rank_t)process;
    status     = ask(&whose, key, &value);
    if (status != PMIX_SUCCESS)
        return ski_fail(SKUA_ERR_UNREACH, "PMIx: process %d does not say its %s: %s", process, key,
                        pmix.error(status));
    if (value->type != PMIX_BYTE_OBJECT || value->data.bo.size > room) {
        free(value);
        return ski_fail(SKUA_ERR_INVAL, "PMIx: the %s of process %d makes no sense", key, process);
    }
    *bytes = value->data.bo.size;
    memcpy(data, value->data.bo.bytes, *bytes);
    free(value->data.bo.bytes);
    free(value);
    return SKUA_OK;
}

/* ---- beginning and end ------------------------------------------------------------ */

static skua_status_t begin(int *rank, int *size, int **near, int *here, bool *one_host)
{
    const char   *missing = ski_pmix_missing();
    pmix_status_t began;

    if (missing)
        return ski_fail(SKUA_ERR_UNSUPPORTED,
                        "started by a PMIx launcher, but PMIx cannot be used: %s", missing);
    began = pmix.init(&self, NULL, 0);
    if (began != PMIX_SUCCESS)
        return failed("PMIx_Init", began);
    die_with_launcher();
    *rank     = (int)self.rank;
    *size     = (int)job_size();
    *near     = find_near(*size, here);
    *one_host = all_on_one_host();
    return SKUA_OK;
}

static void end(void)
{
    pmix.finalize(NULL, 0);
}

const struct ski_foreign ski_pmix_launcher = {begin, end, barrier, put, get};
