/* SPDX-License-Identifier: Apache-2.0 */
/* agent.c - see agent.h. */
#include "agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <skua/time.h>

#include "base/config.h"
#include "base/topology.h"
#include "agent/kvs_proxy.h"
#include "protocol/job_spec.h"

#define CHECK_MS     1000               /* between two checks of the state of the job */
#define FRAME_BYTES  ((size_t)1 << 20)  /* of output in a frame, which ends with a line if it can */
#define WINDOW_BYTES ((int64_t)1 << 18) /* of unacknowledged output; then pipes are not read */

struct agent {
    struct frame_conn     conn;
    struct procs          procs;
    struct kvs_proxy      proxy;
    struct run_options    options;
    int                   signals;     /* a signalfd */
    int64_t               in_flight;   /* bytes of output that the launcher has not written */
    bool                  stdin_ready; /* reported: process 0 accepts more input */
    uint32_t              joined;      /* reported: the latest phase that was joined */
    bool                  all_joined;  /* reported: all processes of this agent have joined */
    bool                  exiting;     /* reported: skua_exit() was called */
    uint64_t              generation;  /* reported as completed */
    struct procs_survival survival;    /* with --survive */
    bool                  running;     /* an epoch has begun, and procs is set up */
    bool                  io_cpus_set; /* SKUA_IO_CPUS is ours, for the PEs of an epoch */
    double drain; /* when to stop reading output, once all processes have ended; else 0 */
};

/* Kills all processes and exits: the launcher has died or has sent an invalid frame. */
static _Noreturn void agent_abandon(struct agent *a)
{
    if (a->procs.child)
        procs_signal(&a->procs, SIGKILL);
    _exit(1);
}

/* ---- the job specification --------------------------------------------------------------- */

/* Blocks until a frame has arrived.  Returns false at the end of the connection. */
static bool agent_receive(struct agent *a, struct frame *frame)
{
    int found;

    while ((found = frame_conn_next(&a->conn, frame)) == 0) {
        struct pollfd polls[] = {
            {.fd = a->conn.in, .events = POLLIN},
            {.fd = frame_conn_has_unsent(&a->conn) ? a->conn.out : -1, .events = POLLOUT}};

        poll(polls, 2, -1);
        frame_conn_flush(&a->conn);
        if (polls[0].revents && frame_conn_read(&a->conn) < 0)
            return false;
    }
    return found > 0;
}

/* Keeps the images of one generation alone. */
static void agent_keep_images(const struct agent *a, const struct frame *frame)
{
    struct image_record record;

    memcpy(&record, frame->data, sizeof record);
    host_images_keep(&a->survival.images, record.generation);
}

/* Blocks until the specification of the next epoch has arrived.  An agent without processes waits
 * here: that of a spare host, and one whose processes the job can do without.  Between two epochs
 * frames that belong to the one before are ignored.  Returns false if the job is over. */
static bool agent_receive_spec(struct agent *a, struct frame *frame)
{
    while (agent_receive(a, frame)) {
        switch (frame->kind) {
        case FRAME_SPEC: return true;
        case FRAME_PING:
            frame_conn_send_number(&a->conn, FRAME_PONG, frame_number(frame), NULL);
            break;
        case FRAME_CREDIT: a->in_flight -= frame_number(frame); break;
        case FRAME_KEEP: agent_keep_images(a, frame); break;
        case FRAME_SIGNAL: break; /* no process is here that it is for */
        default:
            if (!a->running)
                return false; /* the first frame must be the specification */
        }
    }
    return false;
}

static void agent_set_environment(const struct job_spec *spec)
{
    /* UCX catches SIGHUP for its debugger; then a job would outlive its terminal. */
    setenv("UCX_DEBUG_SIGNO", "0", 0);
    for (char **setting = spec->setting; *setting; setting++) {
        char *value = strchr(*setting, '=');

        if (!value)
            continue;
        *value = '\0';
        setenv(*setting, value + 1, 1);
    }
}

/* Selects the CPUs of I/O threads beside @p pes PEs of this host, unless the user did.  Another
 * epoch may have more PEs here. */
static void agent_choose_io_cpus(struct agent *a, const int *cpu, int pes)
{
    char list[SKI_IO_CPUS_TEXT];

    if (strcmp(ski_config.io_cpus, "auto") != 0 && !a->io_cpus_set)
        return;
    a->io_cpus_set = true;
    ski_topology_idle_list(cpu, pes, list);
    setenv("SKUA_IO_CPUS", list, 1);
}

/* Keeps the CPUs of our PEs, after the CPUs of all PEs of the job on this host were chosen, unless
 * the launcher did. */
static skua_status agent_choose_cpus(struct agent *a, struct job_spec *spec)
{
    struct job_spec_head *h      = &spec->head;
    int                   own    = job_spec_pes(spec, h->agent);
    skua_status           status = SKUA_OK;

    if (!spec->cpu) {
        spec->cpu = ski_calloc((size_t)h->host_pes, sizeof *spec->cpu);
        status    = ski_topology_assign(ski_config.pin, h->host_pes, h->pes_per_process, spec->cpu);
    }
    if (status != SKUA_OK)
        return status;
    agent_choose_io_cpus(a, spec->cpu, h->host_pes);
    h->cpus_shared = ski_topology_cpus_shared(spec->cpu, h->host_pes, h->host_first_pe, own);
    memmove(spec->cpu, spec->cpu + h->host_first_pe, (size_t)own * sizeof *spec->cpu);
    return SKUA_OK;
}

/* Returns the first process of the host of each process: an agent has the processes of a host. */
static int *agent_leaders(const struct job_spec *spec)
{
    int  processes = job_spec_processes(&spec->head);
    int *leader    = ski_calloc((size_t)processes, sizeof *leader);
    int *first     = ski_calloc((size_t)spec->head.agents, sizeof *first); /* plus 1; 0: none yet */

    for (int i = 0; i < processes; i++) {
        int *of = &first[spec->agent_of[i]];

        if (!*of)
            *of = i + 1;
        leader[i] = *of - 1;
    }
    free(first);
    return leader;
}

/* Returns the numbers of our processes in ascending order. */
static int *agent_local(const struct job_spec *spec, int *count)
{
    int  processes = job_spec_processes(&spec->head);
    int *local     = ski_calloc((size_t)processes, sizeof *local);

    *count = 0;
    for (int i = 0; i < processes; i++)
        if (spec->agent_of[i] == spec->head.agent)
            local[(*count)++] = i;
    return local;
}

static bool agent_create_procs(struct agent *a, struct job_spec *spec)
{
    const struct job_spec_head *h = &spec->head;
    int                         here;
    int                        *near   = agent_local(spec, &here);
    int                        *leader = agent_leaders(spec);
    struct host_images_plan     images = {h->epoch, h->generation, spec->read, h->reads};
    struct ski_job_params       plan   = {.pes             = h->pes,
                                          .pes_per_process = h->pes_per_process,
                                          .local           = near,
                                          .local_processes = here,
                                          .one_host        = h->one_host,
                                          .leader          = leader,
                                          .secret          = {h->secret[0], h->secret[1]}};
    bool                        made   = false;

    if (ski_config_load() == SKUA_OK && agent_choose_cpus(a, spec) == SKUA_OK) {
        plan.cpu         = spec->cpu;
        plan.cpus_shared = h->cpus_shared;
        made             = procs_create(&a->procs, &plan) &&
               (h->epoch == 0 || procs_begin_epoch(&a->procs, &a->survival, &images));
    }
    a->procs.terminal = h->terminal;
    free(near);
    free(leader);
    return made;
}

/* Returns false if no process could be set up; the reason has been sent to the launcher. */
static bool agent_start_procs(struct agent *a, struct job_spec *spec)
{
    char reason[REASON_BYTES];
    int  code = 1;

    if (chdir(spec->directory) < 0) {
        snprintf(reason, sizeof reason, "cannot enter %s: %s", spec->directory, strerror(errno));
        frame_conn_send_number(&a->conn, FRAME_FAILED, code, reason);
        return false;
    }
    agent_set_environment(spec);
    if (!agent_create_procs(a, spec)) {
        frame_conn_send_number(&a->conn, FRAME_FAILED, code, NULL);
        return false;
    }
    a->options = (struct run_options){
        .label = spec->head.label, .verbose = spec->head.verbose, .command = spec->argument};
    if (!procs_start(&a->procs, &a->options, &code, reason))
        frame_conn_send_number(&a->conn, FRAME_FAILED, code, reason);
    return true;
}

/* ---- frames to the launcher ------------------------------------------------- */

/* Sends output in frames that end with a complete line where possible. */
static void agent_send_output(void *arg, int to, const char *text, size_t bytes)
{
    struct agent *a = arg;

    while (bytes > 0) {
        size_t      n   = bytes < FRAME_BYTES ? bytes : FRAME_BYTES;
        const char *end = memrchr(text, '\n', n);

        if (end)
            n = (size_t)(end - text) + 1;
        frame_conn_send(&a->conn, to == STDOUT_FILENO ? FRAME_STDOUT : FRAME_STDERR, text, n, NULL,
                        0);
        a->in_flight += (int64_t)n;
        text += n;
        bytes -= n;
    }
}

static bool agent_exited_cleanly(const struct exit_report *report)
{
    return WIFEXITED(report->status) && report->state == SKI_PROCESS_LEFT;
}

static void agent_reap(struct agent *a)
{
    struct signalfd_siginfo info;
    int                     i;

    while (read(a->signals, &info, sizeof info) == sizeof info)
        ;
    while ((i = procs_reap(&a->procs)) >= 0) {
        const struct exit_report *report = &a->procs.child[i].report;
        char                      reason[REASON_BYTES];

        frame_conn_send(&a->conn, FRAME_EXITED, report, sizeof *report, NULL, 0);
        if (agent_exited_cleanly(report))
            continue;
        procs_exit_reason(&a->procs, i, reason);
        frame_conn_send_number(&a->conn, FRAME_REASON, report->process, reason);
    }
}

/* Reports the number of PEs that the program requests, and a new generation of images.  The
 * generation is read first and sent last, so the launcher resizes the job from the first generation
 * that is completed after the request. */
static void agent_report_images(struct agent *a)
{
    struct image_record record = {.generation = procs_generation(&a->procs)};
    int                 asked  = procs_asked_size(&a->procs);

    if (asked > 0)
        frame_conn_send_number(&a->conn, FRAME_RESIZE, asked, NULL);
    if (record.generation <= a->generation)
        return;
    a->generation = record.generation;
    frame_conn_send(&a->conn, FRAME_GENERATION, &record, sizeof record, NULL, 0);
}

static void agent_report_state(struct agent *a)
{
    struct ski_job *job = a->procs.job;

    if (a->procs.survival)
        agent_report_images(a);
    procs_kill_stopped(&a->procs);
    procs_ask_checkpoint(&a->procs);
    if (a->joined < procs_joined_phase(&a->procs)) {
        a->joined = procs_joined_phase(&a->procs);
        frame_conn_send_number(&a->conn, FRAME_JOINED, (int)a->joined, NULL);
    }
    if (!a->all_joined && procs_all_joined(&a->procs)) {
        a->all_joined = true;
        frame_conn_send(&a->conn, FRAME_ALL_JOINED, NULL, 0, NULL, 0);
    }
    if (!a->exiting && procs_program_exiting(&a->procs)) {
        a->exiting = true;
        frame_conn_send_number(&a->conn, FRAME_EXITING, ski_job_exit_code(job), NULL);
    }
    if (!a->stdin_ready && a->procs.input.to >= 0 && !iof_input_pending(&a->procs.input)) {
        a->stdin_ready = true;
        frame_conn_send(&a->conn, FRAME_STDIN_READY, NULL, 0, NULL, 0);
    }
}

/* ---- frames from the launcher ------------------------------------------------ */

static void agent_on_frame(struct agent *a, const struct frame *frame)
{
    switch (frame->kind) {
    case FRAME_STDIN:
        a->stdin_ready = false;
        iof_input_put(&a->procs.input, frame->data, frame->bytes);
        break;
    case FRAME_SIGNAL: procs_signal(&a->procs, frame_number(frame)); break;
    case FRAME_CREDIT: a->in_flight -= frame_number(frame); break;
    case FRAME_PING: frame_conn_send_number(&a->conn, FRAME_PONG, frame_number(frame), NULL); break;
    case FRAME_VALUE:
        if (kvs_proxy_on_value(&a->proxy, frame))
            break;
        /* fallthrough */
    default: agent_abandon(a);
    }
}

static void agent_read_frames(struct agent *a)
{
    struct frame frame;
    int          found;

    while ((found = frame_conn_next(&a->conn, &frame)) > 0)
        agent_on_frame(a, &frame);
    if (found < 0)
        agent_abandon(a);
}

/* ---- the loop -------------------------------------------------------------- */

/* Indices of the descriptors that are polled; those of the processes and then those of the
 * key-value store follow. */
enum { AGENT_SIGNALS, AGENT_IN, AGENT_OUT, AGENT_PROCS };

static void agent_poll_fill(struct agent *a, struct pollfd *polls)
{
    polls[AGENT_SIGNALS] = (struct pollfd){.fd = a->signals, .events = POLLIN};
    polls[AGENT_IN]      = (struct pollfd){.fd = a->conn.in, .events = POLLIN};
    polls[AGENT_OUT]     = (struct pollfd){.fd     = frame_conn_has_unsent(&a->conn) ? a->conn.out : -1,
                                           .events = POLLOUT};
    procs_poll_fill(&a->procs, polls + AGENT_PROCS);
    if (a->in_flight >
        WINDOW_BYTES) /* leave output in the pipes; the two of the input come first */
        for (size_t i = AGENT_PROCS + 2; i < AGENT_PROCS + procs_poll_count(&a->procs); i++)
            polls[i].fd = -1;
    kvs_proxy_poll_fill(&a->proxy, polls + AGENT_PROCS + procs_poll_count(&a->procs));
}

/* Handles what poll() found.  Returns whether some output is still open. */
static bool agent_poll_serve(struct agent *a, const struct pollfd *polls)
{
    char reason[REASON_BYTES];
    bool open = procs_poll_serve(&a->procs, polls + AGENT_PROCS);

    if (!kvs_proxy_poll_serve(&a->proxy, polls + AGENT_PROCS + procs_poll_count(&a->procs), reason))
        frame_conn_send_number(&a->conn, FRAME_FAILED, 1, reason);
    if (polls[AGENT_SIGNALS].revents)
        agent_reap(a);
    if (polls[AGENT_IN].revents && frame_conn_read(&a->conn) < 0)
        agent_abandon(a);
    agent_read_frames(a);
    frame_conn_flush(&a->conn);
    return open;
}

static int agent_poll_timeout(const struct agent *a)
{
    if (procs_prompt(&a->procs))
        return PROCS_PROMPT_MS;
    return a->drain > 0 ? (int)(PROCS_DRAIN_SECONDS * 1e3) : CHECK_MS;
}

/* Returns whether processes are alive, their output is open, or frames wait to be sent. */
static bool agent_continues(struct agent *a, bool open)
{
    double now = skua_time();

    if (a->procs.alive > 0)
        return true;
    if (a->drain <= 0 || a->in_flight > WINDOW_BYTES)
        a->drain = now + PROCS_DRAIN_SECONDS;
    return (open && now < a->drain) || frame_conn_has_unsent(&a->conn);
}

static void agent_loop(struct agent *a)
{
    size_t count =
        AGENT_PROCS + procs_poll_count(&a->procs) + (size_t)a->procs.job->local_processes;
    struct pollfd *polls = ski_calloc(count, sizeof *polls);
    bool           open  = true;

    while (agent_continues(a, open)) {
        agent_poll_fill(a, polls);
        if (poll(polls, count, agent_poll_timeout(a)) > 0)
            open = agent_poll_serve(a, polls);
        else if (procs_prompt(&a->procs))
            iof_output_flush(procs_prompt(&a->procs));
        agent_report_state(a);
    }
    free(polls);
}

/* Only SIGCHLD is read.  SIGUSR1, which Slurm may send to all tasks, is for the program and stays
 * blocked; any other signal ends the agent, and its processes with it. */
static int agent_open_signals(void)
{
    sigset_t set;

    signal(SIGCHLD, SIG_DFL); /* ignored, it would not be sent */
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_SETMASK, &set, NULL);
    sigdelset(&set, SIGUSR1);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* Frames use private copies of stdin and stdout, and stdout becomes stderr: text that a library
 * prints cannot corrupt the frames. */
static void agent_open_conn(struct agent *a)
{
    struct frame_hello hello = frame_make_hello();
    int                in    = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    int                out   = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

    dup2(STDERR_FILENO, STDOUT_FILENO);
    frame_conn_open(&a->conn, in, out, FRAME_DOWN);
    frame_conn_send(&a->conn, FRAME_HELLO, &hello, sizeof hello, NULL, 0);
}

/* Blocks until all frames have been written. */
static void agent_flush(struct agent *a)
{
    while (frame_conn_has_unsent(&a->conn)) {
        struct pollfd out = {.fd = a->conn.out, .events = POLLOUT};

        poll(&out, 1, -1);
        frame_conn_flush(&a->conn);
    }
}

/* ---- epochs ----------------------------------------------------------------------- */

/* Runs the processes of one epoch to their end. */
static void agent_run_epoch(struct agent *a, struct job_spec *spec)
{
    a->stdin_ready = true; /* the launcher assumes so at first */
    a->joined      = 0;
    a->all_joined  = false;
    a->exiting     = false;
    a->generation  = 0;
    a->drain       = 0;
    a->running     = agent_start_procs(a, spec);
    if (!a->running)
        return;
    kvs_proxy_begin(&a->proxy, &a->procs, &a->conn);
    agent_read_frames(a);
    agent_loop(a);
    kvs_proxy_end(&a->proxy);
}

/* Reports to the launcher that the epoch has ended on this host, and which images it has. */
static void agent_send_idle(struct agent *a)
{
    int                  count;
    struct image_record *record = host_images_scan(&a->survival.images, &count);

    frame_conn_send(&a->conn, FRAME_IDLE, record, (size_t)count * sizeof *record, NULL, 0);
    free(record);
}

/* Waits for the next epoch.  Returns false if the job is over. */
static bool agent_next_epoch(struct agent *a, struct job_spec *spec)
{
    struct frame frame;

    agent_send_idle(a);
    if (!agent_receive_spec(a, &frame) || !job_spec_decode(spec, frame.data, frame.bytes))
        return false;
    procs_rewind_output(&a->procs, spec->head.generation);
    procs_destroy(&a->procs);
    return true;
}

/* The agent keeps its images from one epoch to the next; they vanish with it. */
static void agent_run_epochs(struct agent *a, struct job_spec *spec)
{
    bool more;

    do {
        agent_run_epoch(a, spec);
        more = a->running && spec->head.epoch > 0;
        job_spec_free(spec);
        *spec = (struct job_spec){0};
    } while (more && agent_next_epoch(a, spec));
    if (!a->running)
        return;
    procs_end_output(&a->procs);
    procs_destroy(&a->procs);
}

int agent_run(void)
{
    static struct agent a; /* too large for the stack */
    struct frame        frame;
    struct job_spec     spec = {0};

    prctl(PR_SET_NAME, "skuarun"); /* not "exe", if it was started as /proc/self/exe */
    a.signals = agent_open_signals();
    if (a.signals < 0) {
        fprintf(stderr, "skuarun: an agent cannot receive signals: signalfd: %s\n",
                strerror(errno));
        return 1;
    }
    agent_open_conn(&a);
    if (!agent_receive_spec(&a, &frame))
        _exit(1);
    if (!job_spec_decode(&spec, frame.data, frame.bytes))
        return 1;
    iof_set_sink(agent_send_output, &a);
    agent_run_epochs(&a, &spec);
    agent_flush(&a);
    job_spec_free(&spec);
    procs_survival_free(&a.survival);
    return 0;
}
