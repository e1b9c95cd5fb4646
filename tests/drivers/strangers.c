/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strangers.c - who knocks at the ports of the driver over TCP without being of the job, or
 * does so in a strange way: what transport/tcp/tcp.h says about hellos.
 *
 * Strangers are sockets of this program.  The log is read by us meanwhile.
 */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/tcp/tcp.h"

#define CROWD   300
#define NOBODY  7 /* a PE that no port is of */
#define JUNK    1000
#define SECONDS 10.0

/* ---- the log -------------------------------------------------------------------------- */

static unsigned refusals; /* that were told of    */
static unsigned others;   /* lines that were not  */
static char     line[256];

__attribute__((format(printf, 2, 3))) static void listen_to_log(enum ski_log_level level,
                                                                const char        *format, ...)
{
    va_list args;

    (void)level;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    printf("# %s\n", line);
    if (strncmp(line, "a connection from 127.0.0.1 was refused: ", 41) == 0)
        refusals++;
    else
        others++;
}

static void expect_told(unsigned refused, const char *why, const char *what)
{
    if (refusals != refused || !strstr(line, why) || others != 0)
        fail("%s: told of %u refusals instead of %u, and %u other things: %s", what, refusals,
             refused, others, line);
    refusals = others = 0;
}

/* ---- strangers ------------------------------------------------------------------------ */

/* The first name that a port listens at (transport/names.h). */
static struct sockaddr_in door_of(struct end *end)
{
    char               address[SKI_ADDRESS_MOST];
    struct sockaddr_in name;

    driver->address(end->port, address);
    memcpy(&name, address + sizeof(uint64_t), sizeof name);
    return name;
}

static int knock(const struct sockaddr_in *door)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (const struct sockaddr *)door, sizeof *door) != 0)
        die("a stranger cannot connect: %s", strerror(errno));
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

/* The system tells the port of a connection once something has come by it: here the first byte of a
 * hello. */
static int knock_and_begin(const struct sockaddr_in *door)
{
    int fd = knock(door);

    if (send(fd, "S", 1, 0) != 1)
        die("a stranger cannot speak");
    return fd;
}

static struct ski_hello make_hello(int from, int to)
{
    struct ski_hello hello = {.magic = "SkuaTCP", .from = from, .to = to, .nonce = 42};

    hello.proof = net.proof(from, to, hello.nonce);
    return hello;
}

/* Waits for what the port says to a stranger; @p n bytes of it, or less if it hangs up, or
 * -1 if it does so with something of ours unread. */
static ssize_t hear(int fd, void *to, size_t n, struct end *ends, int count)
{
    size_t got   = 0;
    double since = now();

    while (got < n) {
        ssize_t more = recv(fd, (char *)to + got, n - got, 0);

        if (more == 0)
            break;
        if (more < 0 && errno != EAGAIN)
            return -1;
        got += more > 0 ? (size_t)more : 0;
        pump(ends, count);
        if (now() - since > SECONDS)
            die("a stranger is not answered");
    }
    return (ssize_t)got;
}

/* ---- one at a time --------------------------------------------------------------------- */

/* Says hello and goes on at once, but nothing is read of that: so the system resets. */
static void expect_refused(struct end *ends, const struct sockaddr_in *door, struct ski_hello hello,
                           const char *what)
{
    char words[sizeof hello + JUNK] = {0}, byte;
    int  fd                         = knock(door);

    memcpy(words, &hello, sizeof hello);
    if (send(fd, words, sizeof words, 0) != sizeof words)
        die("a stranger cannot speak");
    if (hear(fd, &byte, 1, ends, 2) != -1)
        fail("%s: not refused, or read on", what);
    expect_told(1, "know the secret", what);
    close(fd);
}

static void test_wrong_hellos(struct end *ends, const struct sockaddr_in *door)
{
    struct ski_hello hello = make_hello(1, 0);

    hello.magic[3]++;
    expect_refused(ends, door, hello, "another protocol");
    hello = make_hello(1, 0);
    hello.proof ^= 1;
    expect_refused(ends, door, hello, "a wrong proof");
    hello = make_hello(1, 0);
    hello.nonce++;
    expect_refused(ends, door, hello, "a proof of something else");
    expect_refused(ends, door, make_hello(0, 1), "a hello to somebody else");
    expect_refused(ends, door, make_hello(-1, 0), "a PE that there is not");
}

static void test_slow_hello(struct end *ends, const struct sockaddr_in *door)
{
    struct ski_hello hello = make_hello(NOBODY, 0), answer;
    uint64_t         end   = ski_stream_head(SKI_STREAM_END, 0);
    int              fd    = knock(door);

    for (size_t i = 0; i < sizeof hello; i++) {
        if (send(fd, (char *)&hello + i, 1, 0) != 1)
            die("a stranger cannot speak");
        for (int n = 0; n < 10; n++)
            pump(ends, 2);
    }
    if (hear(fd, &answer, sizeof answer, ends, 2) != sizeof answer)
        fail("a hello byte by byte is not answered");
    else if (answer.from != 0 || answer.to != NOBODY || answer.nonce != hello.nonce ||
             answer.proof != net.proof(0, NOBODY, hello.nonce))
        fail("the answer to a hello is wrong");
    if (send(fd, &end, sizeof end, 0) != sizeof end || refusals + others > 0)
        fail("who says hello byte by byte is told of");
    close(fd);
}

/* Some go before they have said all. */
static void test_half_hello(struct end *ends, const struct sockaddr_in *door)
{
    struct ski_hello hello = make_hello(1, 0);

    for (size_t n = 0; n < sizeof hello; n += 5) {
        int fd = knock(door);

        if (send(fd, &hello, n, 0) != (ssize_t)n)
            die("a stranger cannot speak");
        close(fd);
        for (int i = 0; i < 10; i++)
            pump(ends, 2);
    }
    if (refusals + others > 0)
        fail("who says half a hello is told of");
}

static void test_silent(struct end *ends, const struct sockaddr_in *door)
{
    int  fd = knock(door);
    char byte;

    if (hear(fd, &byte, 1, ends, 2) != 0)
        fail("somebody who says nothing is not shown the door");
    expect_told(1, "say who it is", "somebody who says nothing");
    close(fd);
}

/* ---- many ------------------------------------------------------------------------------- */

/* A peer gets in among more than there is room for, none of which says who it is. */
static void test_crowd(struct end *ends, const struct sockaddr_in *door)
{
    int fd[CROWD];

    for (int i = 0; i < CROWD; i++)
        fd[i] = knock_and_begin(door);
    for (int i = 0; i < 100; i++)
        pump(ends, 2);
    open_end(&ends[2], 2);
    connect_ends(&ends[2], &ends[0]);
    send_packet(ends, 3, 2, 0, 1000);
    send_packet(ends, 3, 0, 1, 1000);
    WAIT_FOR(ends[0].arrived[2] == 1, ends, 3, "a packet of one in a crowd");
    settle(ends, 2);
    if (refusals == 0 || refusals > 10 || others > 0)
        fail("of a crowd %u were told of", refusals);
    refusals = others = 0;
    close_end(&ends[2]);
    for (int i = 0; i < CROWD; i++)
        close(fd[i]);
}

/* Moves ports on with a limit of open files that leaves none. */
static void pump_without_files(struct end *ends, int count, struct rlimit none)
{
    if (setrlimit(RLIMIT_NOFILE, &none) != 0)
        die("setrlimit: %s", strerror(errno));
    for (int i = 0; i < 100; i++)
        pump(ends, count);
}

/* The same of a port of another process, which cannot have more; whether it is told, once. */
static bool says_too_many(void)
{
    int   status = 0;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        struct end         own;
        struct sockaddr_in door;

        open_end(&own, 0);
        door = door_of(&own);
        knock_and_begin(&door);
        pump_without_files(&own, 1, (struct rlimit){0});
        _exit(refusals != 0 || others != 1 || !strstr(line, "too many open files"));
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* No descriptor is left for who comes: the port takes as many as it may have. */
static void test_full(struct end *ends, const struct sockaddr_in *door)
{
    struct ski_hello hello = make_hello(NOBODY, 0), answer;
    struct rlimit    before;
    int              fd  = knock_and_begin(door);
    uint64_t         end = ski_stream_head(SKI_STREAM_END, 0);

    if (!says_too_many())
        fail("nobody says that there are too many open files");
    getrlimit(RLIMIT_NOFILE, &before);
    pump_without_files(ends, 2, (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max});
    setrlimit(RLIMIT_NOFILE, &before);
    if (refusals + others > 0)
        fail("files that may be had are said to be missing");
    if (send(fd, (char *)&hello + 1, sizeof hello - 1, 0) != sizeof hello - 1 ||
        hear(fd, &answer, sizeof answer, ends, 2) != sizeof answer)
        fail("a connection that had to wait is not accepted");
    if (send(fd, &end, sizeof end, 0) != sizeof end)
        fail("a connection that had to wait is gone");
    close(fd);
}

/* ---- peers that are slow ------------------------------------------------------------------ */

/* One end computes for longer than others wait for a hello; then both meet all the same. */
static void meet_late(struct end *ends, int from, int to)
{
    for (double since = now(); now() - since < 1.5 * net.peer_timeout;)
        pump(&ends[1], 1);
    connect_ends(&ends[from], &ends[to]);
    send_packet(ends, 2, 0, 1, 100);
    send_packet(ends, 2, 1, 0, 100);
    settle(ends, 2);
    close_ends(ends, 2);
}

/* Who has connected computes. */
static void test_late_peer(void)
{
    struct end ends[2];

    open_end(&ends[0], 0);
    open_end(&ends[1], 1);
    connect_ends(&ends[0], &ends[1]);
    meet_late(ends, 1, 0);
}

/* Who has let somebody in computes before it hears the hello. */
static void test_busy_door(void)
{
    struct end ends[2];

    open_end(&ends[0], 0);
    open_end(&ends[1], 1);
    connect_ends(&ends[1], &ends[0]);
    pump(&ends[0], 1);
    meet_late(ends, 0, 1);
}

/* A door of our own, at which one fits. */
static int make_door(struct sockaddr_in *name, char *address)
{
    int       fd    = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    uint64_t  count = 1;
    socklen_t bytes = sizeof *name;

    /* An address of our own, or a stranger of another test, which looks for a port that has just
     * been closed, might come. */
    *name =
        (struct sockaddr_in){.sin_family      = AF_INET,
                             .sin_addr.s_addr = htonl(0x7f400000 | ((uint32_t)getpid() & 0xffff))};
    if (fd < 0 || bind(fd, (struct sockaddr *)name, bytes) != 0 || listen(fd, 0) != 0 ||
        getsockname(fd, (struct sockaddr *)name, &bytes) != 0)
        die("no door: %s", strerror(errno));
    memcpy(address, &count, sizeof count); /* transport/names.h */
    memset(address + sizeof count, 0, sizeof(struct sockaddr_in6));
    memcpy(address + sizeof count, name, sizeof *name);
    return fd;
}

static int await_guest(int door, struct end *end)
{
    int fd;

    for (double since = now(); (fd = accept(door, NULL, NULL)) < 0;) {
        if (end)
            pump(end, 1);
        if (now() - since > SECONDS)
            die("nobody comes to a door");
    }
    return fd;
}

/* The system gets through to a door only after a second, as it was taken, and meanwhile the
 * peer computes: its hello is late, and nobody is there for it.  It tries again. */
static void test_door_shut(void)
{
    struct sockaddr_in name;
    char               address[sizeof(uint64_t) + sizeof(struct sockaddr_in6)];
    int                door = make_door(&name, address), first = knock(&name), guest;
    struct end         end;
    struct ski_hello   hello;

    open_end(&end, 0);
    if (driver->connect(end.port, 1, address, sizeof address, &end.peer[1]) != SKUA_OK)
        die("connect");
    close(await_guest(door, NULL));
    close(first);
    guest = await_guest(door, NULL); /* nobody moves the port on */
    close(guest);
    guest = await_guest(door, &end);
    fcntl(guest, F_SETFL, O_NONBLOCK);
    if (end.lost[1] || hear(guest, &hello, sizeof hello, &end, 1) != sizeof hello ||
        hello.from != 0 || hello.to != 1)
        fail("a door that was shut is not tried again");
    close(guest);
    close(door);
    WAIT_FOR(end.lost[1], &end, 1, "the end of tries");
    close_end(&end);
}

/* One who does not know the secret answers for a peer. */
static void test_impostor(void)
{
    struct sockaddr_in name;
    char               address[sizeof(uint64_t) + sizeof(struct sockaddr_in6)];
    int                door = make_door(&name, address), guest;
    struct end         end;
    ssize_t            got;
    struct ski_hello   hello;

    open_end(&end, 0);
    if (driver->connect(end.port, 1, address, sizeof address, &end.peer[1]) != SKUA_OK)
        die("connect");
    try_send(&end, 1, 1000);
    guest = await_guest(door, &end);
    fcntl(guest, F_SETFL, O_NONBLOCK);
    if (hear(guest, &hello, sizeof hello, &end, 1) != sizeof hello)
        fail("no hello");
    hello = make_hello(1, 0); /* with another nonce */
    if (send(guest, &hello, sizeof hello, 0) != sizeof hello)
        die("an impostor cannot speak");
    WAIT_FOR(end.lost[1], &end, 1, "an impostor to be found out");
    got = recv(guest, &hello, sizeof hello, 0);
    if (got > 0)
        fail("an impostor got %zd bytes more", got);
    close(guest);
    close(door);
    close_end(&end);
}

void test_strangers(void)
{
    struct end         ends[3];
    struct sockaddr_in door;
    double             timeout = net.peer_timeout;

    if (strcmp(driver->name, "tcp") != 0)
        return; /* their libraries' own affair */
    open_end(&ends[0], 0);
    door = door_of(&ends[0]);
    open_end(&ends[1], 1);
    connect_ends(&ends[0], &ends[1]);
    connect_ends(&ends[1], &ends[0]);
    send_packet(ends, 2, 0, 1, 100);
    settle(ends, 2);
    net.log          = listen_to_log;
    net.peer_timeout = 1; /* which is how long strangers are waited for */
    test_wrong_hellos(ends, &door);
    test_slow_hello(ends, &door);
    test_half_hello(ends, &door);
    test_silent(ends, &door);
    test_full(ends, &door);
    send_packet(ends, 2, 1, 0, 100);
    settle(ends, 2);
    close_ends(ends, 2);
    open_end(&ends[0], 0); /* which has complained of nobody yet */
    door = door_of(&ends[0]);
    open_end(&ends[1], 1);
    connect_ends(&ends[0], &ends[1]);
    test_crowd(ends, &door);
    close_ends(ends, 2);
    test_late_peer();
    test_busy_door();
    test_door_shut();
    test_impostor();
    net.log          = ski_log_write;
    net.peer_timeout = timeout;
}
