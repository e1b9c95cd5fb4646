/* SPDX-License-Identifier: Apache-2.0 */
/* network.c - see network.h. */
#include "network.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

#define ARGUMENTS   48
#define LIMIT       "240"     /* seconds after which a program is stopped */
#define PAIR_PAUSE  300000000 /* ns for a server to start listening */
#define UP_TRIES    50
#define UP_PAUSE    100000000 /* ns between two tries */
#define DEVICE      "skua0"
#define FIRST       "10.213.77.1"
#define SECOND      "10.213.77.2"
#define SUBNET_BITS "/24"

static const char *const names[2]     = {"skua-a", "skua-b"};
static const char *const addresses[2] = {FIRST, SECOND};

/* The devices that join two namespaces, and their addresses at both ends. */
static const struct {
    const char *name, *address[2];
} devices[NETWORK_DEVICES] = {{DEVICE, {FIRST, SECOND}}, {"skua1", {"10.213.78.1", "10.213.78.2"}}};

/* A command line that is being built. */
struct network_command {
    char *argv[ARGUMENTS];
    int   count;
};

static void network_add(struct network_command *command, const char *argument)
{
    if (command->count < ARGUMENTS - 1)
        command->argv[command->count++] = (char *)argument;
    command->argv[command->count] = NULL;
}

static void network_add_all(struct network_command *command, const char *const arguments[])
{
    for (; *arguments; arguments++)
        network_add(command, *arguments);
}

/* ---- namespaces ---------------------------------------------------------- */

/* Gives this process namespaces of its own.  /sys is mounted again, because it shows the devices of
 * the namespace it was mounted in, and UCX reads it. */
static bool network_unshare(const char *name)
{
    return unshare(CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWNS) == 0 &&
           sethostname(name, strlen(name)) == 0 &&
           mount("", "/", NULL, MS_SLAVE | MS_REC, NULL) == 0 && umount2("/sys", MNT_DETACH) == 0 &&
           mount("sysfs", "/sys", "sysfs", 0, NULL) == 0;
}

/* Forks a child with namespaces of its own, which is killed when this process ends.  Returns its
 * pid, or -1 if that is not possible. */
static pid_t network_fork_holder(const char *name)
{
    int   ready[2];
    char  byte = 0;
    pid_t pid;

    if (pipe(ready) < 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!network_unshare(name) || write(ready[1], "", 1) != 1)
            _exit(1);
        close(ready[0]);
        close(ready[1]);
        for (;;)
            pause();
    }
    close(ready[1]);
    if (pid > 0 && read(ready[0], &byte, 1) != 1) {
        waitpid(pid, NULL, 0);
        pid = -1;
    }
    close(ready[0]);
    return pid;
}

/* Adds the command that enters the namespaces of an end, if there are any. */
static void network_add_nsenter(struct network_command *command, const struct network *network,
                                int end, char number[16])
{
    if (!network->holder[end])
        return;
    snprintf(number, 16, "%d", (int)network->holder[end]);
    network_add_all(command, (const char *const[]){"/usr/bin/nsenter", "-t", number, "-n", "-u",
                                                   "-m", "--", NULL});
}

/* Runs a program of iproute2 in the namespaces of an end. */
static bool network_run_tool(const struct network *network, int end, const char *tool,
                             const char *const arguments[])
{
    struct network_command command = {0};
    char                   number[16], path[PROGRAM_PATH_BYTES], sbin[32];

    snprintf(sbin, sizeof sbin, "/sbin/%s", tool);
    if (!program_in_path(tool, path) && !program_find(sbin, path))
        return false;
    network_add_nsenter(&command, network, end, number);
    network_add(&command, path);
    network_add_all(&command, arguments);
    return program_run(command.argv, false, NULL, NULL) == 0;
}

static bool network_run_ip(const struct network *network, int end, const char *const arguments[])
{
    return network_run_tool(network, end, "ip", arguments);
}

/* Makes a device at both ends. */
static bool network_join(const struct network *network, int device)
{
    const char *name = devices[device].name;
    char        b[16], address[32];

    snprintf(b, sizeof b, "%d", (int)network->holder[1]);
    if (!network_run_ip(network, 0,
                        (const char *const[]){"link", "add", name, "type", "veth", "peer", "name",
                                              name, "netns", b, NULL}))
        return false;
    for (int end = 0; end < 2; end++) {
        snprintf(address, sizeof address, "%s%s", devices[device].address[end], SUBNET_BITS);
        if (!network_run_ip(network, end,
                            (const char *const[]){"addr", "add", address, "dev", name, NULL}) ||
            !network_run_ip(network, end, (const char *const[]){"link", "set", name, "up", NULL}) ||
            !network_run_ip(network, end, (const char *const[]){"link", "set", "lo", "up", NULL}))
            return false;
    }
    return true;
}

/* Returns whether the kernel reports a device as up, which takes a moment after it was set up. */
static bool network_is_up(const struct network *network, int end, const char *name)
{
    struct network_command command = {0};
    char                   number[16], file[64];

    snprintf(file, sizeof file, "/sys/class/net/%s/operstate", name);
    network_add_nsenter(&command, network, end, number);
    network_add_all(&command, (const char *const[]){"/bin/grep", "-q", "up", file, NULL});
    return program_run(command.argv, false, NULL, NULL) == 0;
}

static bool network_wait_until_up(const struct network *network, const char *name)
{
    for (int i = 0; i < UP_TRIES; i++) {
        if (network_is_up(network, 0, name) && network_is_up(network, 1, name))
            return true;
        nanosleep(&(struct timespec){.tv_nsec = UP_PAUSE}, NULL);
    }
    return false;
}

static bool network_join_all(const struct network *network, int count)
{
    char number[16];

    for (int i = 0; i < count; i++)
        if (!network_join(network, i) || !network_wait_until_up(network, devices[i].name))
            return false;
    for (int end = 0; end < 2; end++) { /* for bench/netns-agent.sh */
        snprintf(number, sizeof number, "%d", (int)network->holder[end]);
        setenv(end == 0 ? "NETNS_HOLDER_A" : "NETNS_HOLDER_B", number, 1);
    }
    return true;
}

static bool network_make_namespaces(struct network *network, int count)
{
    network->interface = DEVICE;
    for (int end = 0; end < 2; end++)
        network->holder[end] = network_fork_holder(names[end]);
    if (network->holder[0] > 0 && network->holder[1] > 0 &&
        program_find("netns-agent", network->agent) && network_join_all(network, count))
        return true;
    network_close(network);
    return false;
}

/* ---- the path ------------------------------------------------------------ */

void network_use_tcp(const char *interface)
{
    const char *const variables[][2] = {
        {"UCX_TLS", "tcp"},
        {"UCX_NET_DEVICES", interface},
        {"FI_PROVIDER", "tcp"},
        {"FI_TCP_IFACE", interface},
        {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
        {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
        {"OMPI_MCA_pml", "ob1"},
        {"OMPI_MCA_btl", "self,tcp"},
        {"OMPI_MCA_btl_tcp_if_include", interface},
        {"OMPI_MCA_osc", "^sm,ucx"},
        {"MPIR_CVAR_NOLOCAL", "1"},
        {"SKUA_SHARED_MEMORY", "0"},
        {"SKUA_NET_INTERFACES", interface},
    };

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (interface)
            program_set_variable(variables[i][0], variables[i][1]);
        else
            program_restore_variable(variables[i][0]);
}

bool network_open(struct network *network, const struct bench_host *host)
{
    *network = (struct network){.host = host, .pes = 2, .interface = "lo"};
    if (host->namespaces && !network_make_namespaces(network, 1)) {
        fprintf(stderr, "skua: cannot create two connected network namespaces (is `ip' installed, "
                        "and are you root?)\n");
        return false;
    }
    network_use_tcp(network->interface);
    if (host->namespaces)
        program_set_variable("OMPI_MCA_oob_tcp_if_include", DEVICE);
    return true;
}

bool network_open_all(struct network *network, const struct bench_host *host)
{
    *network = (struct network){.host = host, .pes = 2};
    if (!network_make_namespaces(network, NETWORK_DEVICES))
        return false;
    network_use_tcp(network->interface);
    program_set_variable("OMPI_MCA_oob_tcp_if_include", DEVICE);
    return true;
}

bool network_limit(const struct network *network, const char *rate, const char *burst)
{
    for (int i = 0; i < NETWORK_DEVICES; i++)
        for (int end = 0; end < 2; end++)
            if (!network_run_tool(network, end, "tc",
                                  (const char *const[]){"qdisc", "replace", "dev", devices[i].name,
                                                        "root", "tbf", "rate", rate, "burst", burst,
                                                        "latency", "50ms", NULL}))
                return false;
    return true;
}

const char *network_device(int number)
{
    return devices[number].name;
}

void network_close(struct network *network)
{
    network_use_tcp(NULL);
    program_restore_variable("OMPI_MCA_oob_tcp_if_include");
    for (int end = 0; end < 2; end++)
        if (network->holder[end] > 0) {
            kill(network->holder[end], SIGKILL);
            waitpid(network->holder[end], NULL, 0);
        }
}

const char *network_address(const struct network *network)
{
    return network->holder[0] ? FIRST : "127.0.0.1";
}

/* ---- starting ------------------------------------------------------------ */

/* Adds the options by which the launcher of an MPI reaches the other end. */
static void network_add_launcher_options(struct network_command *command,
                                         const struct network *network, bool open,
                                         const char *processes)
{
    if (open)
        network_add_all(command,
                        (const char *const[]){"--oversubscribe", "--bind-to", "none", NULL});
    if (network->holder[0] && open)
        network_add_all(command,
                        (const char *const[]){"--mca", "plm_rsh_agent", network->agent, NULL});
    else if (network->holder[0])
        network_add_all(command, (const char *const[]){"-launcher", "ssh", "-launcher-exec",
                                                       network->agent, "-iface", DEVICE, "-hosts",
                                                       FIRST "," SECOND, "-ppn", processes, NULL});
}

/* Writes the CPUs of the processes at both ends, allocated, as taskset(1) takes them. */
static void network_list_cpus(const struct network *network, char *cpu[2])
{
    int    half = network->pes / 2;
    char  *all = half > 1 ? bench_cpus(network->host, network->pes, 1) : NULL, *middle = all;
    size_t room = (all ? strlen(all) : 0) + 16;

    for (int i = 0; all && i < half; i++)
        middle = strchr(middle, ',') + 1;
    for (int end = 0; end < 2; end++) {
        cpu[end] = ski_malloc(room);
        if (!all)
            snprintf(cpu[end], room, "%d", network->host->cpu[end]);
        else if (end == 0)
            snprintf(cpu[end], room, "%.*s", (int)(middle - all) - 1, all);
        else
            snprintf(cpu[end], room, "%s", middle);
    }
    free(all);
}

void network_run_both(const struct network *network, struct results *results, const char *mpi,
                      const char *const program[])
{
    bool                   open    = strcmp(mpi, "openmpi") == 0;
    struct network_command command = {0};
    char                   launcher[PROGRAM_PATH_BYTES], number[16], processes[16], *cpu[2];

    if (!bench_launcher(mpi, launcher))
        return;
    network_list_cpus(network, cpu);
    snprintf(processes, sizeof processes, "%d", network->pes / 2);
    network_add_all(&command, (const char *const[]){"/usr/bin/timeout", LIMIT, NULL});
    network_add_nsenter(&command, network, 0, number);
    network_add(&command, launcher);
    network_add_launcher_options(&command, network, open, processes);
    for (int end = 0; end < 2; end++) {
        if (end == 1)
            network_add(&command, ":");
        if (network->holder[0] && open)
            network_add_all(&command, (const char *const[]){"--host", addresses[end], NULL});
        network_add_all(&command,
                        (const char *const[]){"-n", processes, "taskset", "-c", cpu[end], NULL});
        network_add_all(&command, program);
    }
    bench_run(results, command.argv);
    free(cpu[0]);
    free(cpu[1]);
}

void network_run_exchange(const struct network *network, struct results *results, const char *bench)
{
    char  path[PROGRAM_PATH_BYTES], cpu[2][16], namespace[2][32];
    char *argv[9] = {path, "exchange", (char *)bench, cpu[0], cpu[1]};

    if (!program_find("bench-floor", path))
        return;
    for (int end = 0; end < 2; end++) {
        snprintf(cpu[end], sizeof cpu[end], "%d", network->host->cpu[end]);
        snprintf(namespace[end], sizeof namespace[end], "/proc/%d/ns/net",
                 (int)network->holder[end]);
        argv[6 + end] = network->holder[0] ? namespace[end] : NULL;
    }
    argv[5] = network->holder[0] ? FIRST : NULL;
    bench_run(results, argv);
}

void network_run_mpi(const struct network *network, struct results *results, const char *mpi,
                     const char *program)
{
    char path[PROGRAM_PATH_BYTES];

    if (program_find(program, path))
        network_run_both(network, results, mpi, (const char *const[]){path, mpi, "network", NULL});
}

/* An mpi driver needs the launcher of its MPI; the others need one that provides PMIx. */
void network_run_driver(const struct network *network, struct results *results, const char *driver,
                        const char *const program[])
{
    program_set_variable("SKUA_DRIVER", driver);
    network_run_both(network, results, strcmp(driver, "mpi-mpich") == 0 ? "mpich" : "openmpi",
                     program);
    program_restore_variable("SKUA_DRIVER");
}

void network_run_skua(const struct network *network, struct results *results, const char *driver,
                      enum ski_security security, const char *series)
{
    char path[PROGRAM_PATH_BYTES];

    if (!program_find("bench-network", path))
        return;
    program_set_variable("SKUA_SECURITY", ski_security_name(security));
    network_run_driver(network, results, driver, (const char *const[]){path, series, NULL});
    program_restore_variable("SKUA_SECURITY");
}

int network_run_pair(const struct network *network, char *const server[], char *const client[],
                     void (*line)(const char *text, void *arg), void *arg)
{
    struct network_command command[2] = {0};
    char                   number[2][16];
    pid_t                  pid;
    int                    code;

    for (int end = 0; end < 2; end++) {
        network_add_all(&command[end], (const char *const[]){"/usr/bin/timeout", LIMIT, NULL});
        network_add_nsenter(&command[end], network, end, number[end]);
        network_add_all(&command[end], (const char *const *)(end == 0 ? server : client));
    }
    pid = program_start(command[0].argv);
    nanosleep(&(struct timespec){.tv_nsec = PAIR_PAUSE}, NULL);
    code = program_run(command[1].argv, false, line, arg);
    program_stop(pid);
    return code;
}
