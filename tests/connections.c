/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connections.c - every PE sends a message to every other PE at the same time, so every process has
 * a connection with every other one.  PE 0 prints how many descriptors a process has at most, and
 * how long the start and the exchange took.
 *
 * usage: connections MOST [BEGAN]
 *
 * The job fails if a process has more than MOST descriptors; 0: any number.  BEGAN is the time, in
 * seconds since 1970, at which the job was started.
 */
#include <dirent.h>
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static skua_handler hello_handler, report_handler;
static int          most;
static double       began;

static _Thread_local int hellos, reports, descriptors; /* of this PE; the most that was reported */
static _Thread_local double started;

static double connections_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Counts the descriptors of this process. */
static int connections_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int  n      = -3; /* ".", ".." and the folder */

    if (!folder)
        skua_abort("cannot open /proc/self/fd");
    while (readdir(folder))
        n++;
    closedir(folder);
    return n;
}

static void connections_report(void)
{
    int n = connections_descriptors();

    skua_send_copy(0, report_handler, &n, sizeof n);
}

static void on_hello(skua_msg *msg)
{
    skua_msg_free(msg);
    if (++hellos == skua_pes() - 1)
        connections_report();
}

static void on_report(skua_msg *msg)
{
    int n = *(const int *)skua_msg_data(msg);

    skua_msg_free(msg);
    if (n > descriptors)
        descriptors = n;
    if (++reports < skua_pes())
        return;
    if (began > 0)
        printf("start %.2f s, ", started - began);
    printf("exchange %.2f s, descriptors of a process %d\n", connections_now() - started,
           descriptors);
    if (most > 0 && descriptors > most)
        skua_abort("a process has %d descriptors, more than %d", descriptors, most);
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
    most           = argc > 1 ? atoi(argv[1]) : 0;
    began          = argc > 2 ? atof(argv[2]) : 0;
    hello_handler  = skua_handler_register("hello", on_hello);
    report_handler = skua_handler_register("report", on_report);
    return skua_main(argc, argv, connections_start);
}
