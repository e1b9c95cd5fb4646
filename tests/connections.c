/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connections.c - every PE sends a message to every other PE at the same time, so every process has
 * a connection with every other one.  PE 0 prints how many descriptors and how many connections
 * over TCP a process has at most, and how long the start and the exchange took.
 *
 * usage: connections MOST [BEGAN [CONNECTIONS]]
 *
 * The job fails if a process has more than MOST descriptors; 0: any number.  BEGAN is the time, in
 * seconds since 1970, at which the job was started.  With CONNECTIONS the job ends when each
 * process has no more connections: two processes that connect to each other at the same time have
 * two of them at first.
 */
#include <dirent.h>
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

struct count {
    int descriptors, connections;
};

static skua_handler hello_handler, report_handler, look_handler;
static int          most, most_connections;
static double       began;

static _Thread_local int          hellos, reports; /* of this PE                 */
static _Thread_local struct count highest;         /* of the reports so far      */
static _Thread_local double       started;

static double connections_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Returns whether a descriptor is a socket that is connected over TCP. */
static bool connections_is_tcp(int fd)
{
    struct sockaddr_storage addr;
    socklen_t               bytes = sizeof addr;

    return getpeername(fd, (struct sockaddr *)&addr, &bytes) == 0 &&
           (addr.ss_family == AF_INET || addr.ss_family == AF_INET6);
}

/* Counts the descriptors of this process. */
static struct count connections_count(void)
{
    DIR                 *folder = opendir("/proc/self/fd");
    struct count         n      = {-3, 0}; /* ".", ".." and the folder */
    const struct dirent *entry;

    if (!folder)
        skua_abort("cannot open /proc/self/fd");
    for (; (entry = readdir(folder)); n.descriptors++)
        n.connections += entry->d_name[0] != '.' && connections_is_tcp(atoi(entry->d_name));
    closedir(folder);
    return n;
}

/* Reports the descriptors of this process, when there are no more connections than there may be. */
static void on_look(skua_msg *msg)
{
    struct count n = connections_count();

    if (most_connections > 0 && n.connections > most_connections) {
        skua_send(skua_pe(), look_handler, msg);
        return;
    }
    skua_msg_free(msg);
    skua_send_copy(0, report_handler, &n, sizeof n);
}

static void on_hello(skua_msg *msg)
{
    if (++hellos == skua_pes() - 1)
        on_look(msg);
    else
        skua_msg_free(msg);
}

static void on_report(skua_msg *msg)
{
    const struct count *n = skua_msg_data(msg);

    if (n->descriptors > highest.descriptors)
        highest.descriptors = n->descriptors;
    if (n->connections > highest.connections)
        highest.connections = n->connections;
    skua_msg_free(msg);
    if (++reports < skua_pes())
        return;
    if (began > 0)
        printf("start %.2f s, ", started - began);
    printf("exchange %.2f s, descriptors of a process %d, connections %d\n",
           connections_now() - started, highest.descriptors, highest.connections);
    if (most > 0 && highest.descriptors > most)
        skua_abort("a process has %d descriptors, more than %d", highest.descriptors, most);
    skua_exit(0);
}

static void connections_start(int argc, char **argv)
{
    (void)argc, (void)argv;
    started = connections_now();
    for (int i = 1; i < skua_pes(); i++)
        skua_send_copy((skua_pe() + i) % skua_pes(), hello_handler, &i, sizeof i);
}

int main(int argc, char **argv)
{
    most             = argc > 1 ? atoi(argv[1]) : 0;
    began            = argc > 2 ? atof(argv[2]) : 0;
    most_connections = argc > 3 ? atoi(argv[3]) : 0;
    hello_handler    = skua_handler_register("hello", on_hello);
    report_handler   = skua_handler_register("report", on_report);
    look_handler     = skua_handler_register("look", on_look);
    return skua_main(argc, argv, connections_start);
}
