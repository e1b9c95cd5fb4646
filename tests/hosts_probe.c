/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hosts_probe.c - prints the host of each PE and the PEs that it shares memory with:
 *
 *      PE 0 at here is near 0 1
 *
 * With `for-ever' all PEs then send to all, for a minute at most, as the target of fault injection.
 * With `ask SECONDS' the job succeeds after that time, or once FILE exists, if all messages have
 * returned.
 * With `flood' the last PE sends to PE 0, which computes, far more than it accepts; both print by
 * how many MiB the memory of their process, without the arena, has grown.  With FILE, PE 0 computes
 * until that file exists; the last PE creates it when PE 1 has answered: a computing receiver does
 * not delay messages to others.
 *
 * usage: hosts_probe [for-ever | ask SECONDS [FILE] | flood [COUNT [BYTES [FILE]]]]
 */
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIFE 60.0 /* seconds */

struct ball {
    int32_t  from;
    uint32_t number;
};

#define COMPUTES 1.0  /* seconds of computation */
#define PATIENCE 20.0 /* seconds to wait for the file */

static int    flood_count = 100000;
static size_t flood_bytes = 1000;
static char  *flood_file;

static skua_handler told_handler, ball_handler, back_handler, idle_handler, flood_handler,
    aside_handler;
static int          told, idle; /* used on PE 0 */
static double       until;
static const char  *until_file;
static skua_pe_data balls_key; /* uint32_t: the number of returns from each PE */

/* PE 0 prints all lines, so that they do not interleave. */
static void on_told(skua_msg *msg)
{
    puts(skua_msg_data(msg));
    skua_msg_free(msg);
    if (++told == skua_pes() && until == 0)
        skua_exit(0);
}

/* ---- balls: every PE sends one to every other, and again when it returns -------- */

static uint32_t *balls(void)
{
    return skua_pe_data_get(balls_key);
}

static void throw_ball(int to)
{
    struct ball ball = {skua_pe(), balls()[to]};

    skua_send_copy(to, ball_handler, &ball, sizeof ball);
}

static void on_ball(skua_msg *msg)
{
    int from = ((struct ball *)skua_msg_data(msg))->from;

    skua_send(from, back_handler, msg);
}

static void on_back(skua_msg *msg)
{
    struct ball ball = *(struct ball *)skua_msg_data(msg);
    int         from = skua_msg_source(msg);

    skua_msg_free(msg);
    if (ball.from != skua_pe() || ball.number != balls()[from]++)
        skua_abort("a ball that PE %d did not send", skua_pe());
    if (ball.number % 64 == 0 && until_file && access(until_file, F_OK) == 0)
        until = -1;
    if (skua_time() < until)
        throw_ball(from);
    else
        skua_send_copy(0, idle_handler, NULL, 0);
}

static void on_idle(skua_msg *msg)
{
    skua_msg_free(msg);
    if (++idle < skua_pes() * skua_pes())
        return;
    puts("all balls have returned");
    skua_exit(0);
}

/* ---- a flood ------------------------------------------------------------------------ */

/* Returns the private memory of this process, without the arena, in KiB. */
static long private_memory(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char  line[128];
    long  n = 0;

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "RssAnon: %ld", &n) == 1)
            break;
    if (file)
        fclose(file);
    return n;
}

static void say_growth(const char *what, long before)
{
    printf("the %s has grown by %ld MiB\n", what, (private_memory() - before) / 1024);
}

static void compute(void)
{
    double end = skua_time() + (flood_file ? PATIENCE : COMPUTES);

    while (skua_time() < end && !(flood_file && access(flood_file, F_OK) == 0))
        ;
    if (flood_file)
        puts(skua_time() < end ? "others are reached" : "other PEs cannot be reached");
}

static void on_flood(skua_msg *msg)
{
    static int  number;
    static long before;

    if (skua_msg_size(msg) != flood_bytes || *(int *)skua_msg_data(msg) != number)
        skua_abort("message %d of the flood has not arrived", number);
    skua_msg_free(msg);
    if (number == 0) {
        before = private_memory();
        compute();
    }
    if (++number < flood_count)
        return;
    say_growth("receiver", before);
    puts("the flood is over");
    skua_exit(0);
}

static void flood(void)
{
    long before = private_memory();

    for (int i = 0; i < flood_count; i++) {
        skua_msg *msg = skua_msg_alloc(flood_bytes);

        *(int *)skua_msg_data(msg) = i;
        skua_send(0, flood_handler, msg);
    }
    say_growth("sender", before);
}

/* Sends a message to PE 1, which returns it. */
static void on_aside(skua_msg *msg)
{
    FILE *file;

    if (skua_pe() == 1) {
        skua_send(skua_pes() - 1, aside_handler, msg);
        return;
    }
    skua_msg_free(msg);
    file = fopen(flood_file, "w");
    if (file)
        fclose(file);
}

static void begin_flood(int argc, char **argv)
{
    flood_file = argc > 4 ? argv[4] : NULL;
    if (argc > 2)
        flood_count = atoi(argv[2]);
    if (argc > 3)
        flood_bytes = (size_t)atol(argv[3]);
    if (skua_pe() < skua_pes() - 1)
        return;
    flood();
    if (flood_file)
        skua_send_copy(1, aside_handler, NULL, 0);
}

static void start(int argc, char **argv)
{
    char   line[1024], host[64] = "?";
    size_t n;

    if (argc > 1 && strcmp(argv[1], "flood") == 0) {
        begin_flood(argc, argv);
        return;
    }
    if (argc > 3)
        until_file = argv[3];
    if (argc > 1)
        until = skua_time() + (argc > 2 ? atof(argv[2]) : LIFE);
    gethostname(host, sizeof host - 1);
    n = (size_t)snprintf(line, sizeof line, "PE %d at %s is near", skua_pe(), host);
    for (int pe = 0; pe < skua_pes() && n < sizeof line - 16; pe++)
        if (skua_shares_memory(pe))
            n += (size_t)snprintf(line + n, sizeof line - n, " %d", pe);
    skua_send_copy(0, told_handler, line, n + 1);
    for (int pe = 0; argc > 1 && pe < skua_pes(); pe++)
        throw_ball(pe);
}

int main(int argc, char **argv)
{
    told_handler  = skua_handler_register("told", on_told);
    ball_handler  = skua_handler_register("ball", on_ball);
    back_handler  = skua_handler_register("back", on_back);
    idle_handler  = skua_handler_register("idle", on_idle);
    flood_handler = skua_handler_register("flood", on_flood);
    aside_handler = skua_handler_register("aside", on_aside);
    balls_key     = skua_pe_data_register(4096 * sizeof(uint32_t));
    return skua_main(argc, argv, start);
}
