/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stranger.c - foreign connections to the ports of a job.  It finds the TCP ports on which
 * processes of a given name listen, in its network namespace, and
 *
 *   list       prints their addresses, one per line
 *   ports      prints addresses and port numbers, as 10.0.0.1:5000
 *   disturb    connects to each port and sends garbage, truncated headers and huge lengths;
 * connects and stays silent; connects many times flood      connects to each port in turn, as fast
 * as possible, and hangs up, or stays silent as long as it has descriptors
 *
 * From another namespace, `visit' disturbs the given ports.  `occupy' listens on all ports of a
 * range, prints a line, and waits for the end of its input.
 *
 * usage: stranger list | ports | disturb | flood NAME SECONDS [SEED]
 *        stranger visit SECONDS SEED ADDRESS:PORT...
 *        stranger occupy FIRST LAST
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LISTENERS    16384
#define SILENT       64
#define LEAST_VISITS 10
#define MOST_VISITS  20000
#define PATIENCE     10.0 /* seconds */
#define FLOOD_MAX    40000
#define FLOOD_KEPT   2000 /* connections that stay open */

struct listener {
    unsigned long      inode;
    struct sockaddr_in name;
};

static struct listener listeners[LISTENERS];
static int             listener_count;
static int             silent[SILENT];

static unsigned long next_random(void)
{
    static unsigned long state = 1;

    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return state >> 33;
}

/* ---- finding ports --------------------------------------------------------------------- */

/* All listening sockets of this namespace. */
static void read_listeners(void)
{
    FILE         *file = fopen("/proc/net/tcp", "r");
    char          line[512];
    unsigned      address, port, state;
    unsigned long inode;

    while (file && listener_count < LISTENERS && fgets(line, sizeof line, file))
        if (sscanf(line, " %*d: %x:%x %*x:%*x %x %*x:%*x %*x:%*x %*x %*u %*u %lu", &address, &port,
                   &state, &inode) == 4 &&
            state == 10)
            listeners[listener_count++] =
                (struct listener){inode,
                                  {.sin_family      = AF_INET,
                                   .sin_port        = htons((unsigned short)port),
                                   .sin_addr.s_addr = address}};
    if (file)
        fclose(file);
}

static int has_name(const char *pid, const char *name)
{
    char  path[300], comm[64] = "";
    FILE *file;

    snprintf(path, sizeof path, "/proc/%s/comm", pid);
    file = fopen(path, "r");
    if (file) {
        if (!fgets(comm, sizeof comm, file))
            comm[0] = '\0';
        fclose(file);
    }
    comm[strcspn(comm, "\n")] = '\0';
    return strcmp(comm, name) == 0;
}

static int has_inode(const char *pid, unsigned long inode)
{
    char           path[600], link[64], wanted[64];
    DIR           *list;
    struct dirent *entry;
    int            found = 0;

    snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
    snprintf(path, sizeof path, "/proc/%s/fd", pid);
    list = opendir(path);
    while (list && !found && (entry = readdir(list))) {
        ssize_t n;

        snprintf(path, sizeof path, "/proc/%s/fd/%s", pid, entry->d_name);
        n     = readlink(path, link, sizeof link - 1);
        found = n > 0 && (link[n] = '\0', strcmp(link, wanted) == 0);
    }
    if (list)
        closedir(list);
    return found;
}

static int is_of(const struct listener *listener, const char *name)
{
    DIR           *list = opendir("/proc");
    struct dirent *entry;
    int            found = 0;

    while (list && !found && (entry = readdir(list)))
        found = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
                has_name(entry->d_name, name) && has_inode(entry->d_name, listener->inode);
    if (list)
        closedir(list);
    return found;
}

static void find_listeners(const char *name)
{
    int n = 0;

    read_listeners();
    for (int i = 0; i < listener_count; i++)
        if (is_of(&listeners[i], name))
            listeners[n++] = listeners[i];
    listener_count = n;
}

/* ---- garbage and floods ---------------------------------------------------------------------- */

static int connect_to(const struct listener *listener)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 &&
        connect(fd, (const struct sockaddr *)&listener->name, sizeof listener->name) != 0) {
        close(fd);
        fd = -1;
    }
    if (fd >= 0)
        fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

static void say_something(int fd)
{
    unsigned char bytes[2048];
    size_t        n = next_random() % sizeof bytes + 1;

    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)next_random();
    switch (next_random() % 4) {
    case 0: memset(bytes, 0xff, n < 64 ? n : 64); break; /* huge lengths */
    case 1: memset(bytes, 0, n < 64 ? n : 64); break;
    case 2: n = n % 8 + 1; break; /* a truncated header */
    default: break;
    }
    (void)!send(fd, bytes, n, MSG_NOSIGNAL);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Visits for that time, or longer if a loaded machine permits only few visits.  Only accepted
 * connections count; the tests require LEAST_VISITS. */
static void disturb(double seconds)
{
    double   until  = now() + seconds;
    unsigned visits = 0, slot = 0;

    while (listener_count > 0 && visits < MOST_VISITS &&
           (now() < until || (visits < LEAST_VISITS && now() < until + PATIENCE))) {
        int fd = connect_to(&listeners[next_random() % (unsigned long)listener_count]);

        if (fd < 0) {
            usleep(1000);
            continue;
        }
        visits++;
        if (next_random() % 8 == 0) { /* stays open and is silent */
            if (silent[slot % SILENT])
                close(silent[slot % SILENT]);
            silent[slot++ % SILENT] = fd;
            continue;
        }
        if (next_random() % 4)
            say_something(fd);
        close(fd);
        usleep(500);
    }
    printf("%u visits to %d ports\n", visits, listener_count);
}

/* Connects without waiting for the connection. */
static int connect_nonblocking(const struct listener *listener)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0)
        (void)!connect(fd, (const struct sockaddr *)&listener->name, sizeof listener->name);
    return fd;
}

/* Closes a connection with a reset. */
static void hang_up(int fd)
{
    struct linger at_once = {1, 0};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(fd);
}

static void flood(double seconds)
{
    static int kept[FLOOD_KEPT];
    double     until = now() + seconds;
    unsigned   n     = 0;

    for (; listener_count > 0 && n < FLOOD_MAX && now() < until; n++) {
        int fd = connect_nonblocking(&listeners[n % (unsigned)listener_count]);

        if (fd < 0)
            break;
        if (n % 2 == 0) {
            hang_up(fd);
            continue;
        }
        if (kept[n / 2 % FLOOD_KEPT] > 0)
            hang_up(kept[n / 2 % FLOOD_KEPT]);
        kept[n / 2 % FLOOD_KEPT] = fd;
        if (n % 64 == 1)
            usleep(1000); /* leaves CPU time to the job */
    }
    printf("%u connections to %d ports\n", n, listener_count);
}

/* ---- commands -------------------------------------------------------------------- */

static void begin_random(const char *seed)
{
    for (unsigned long n = seed ? strtoul(seed, NULL, 0) : 1; n > 0; n--)
        next_random();
}

static void print_listeners(int with_port)
{
    for (int i = 0; i < listener_count; i++) {
        printf("%s", inet_ntoa(listeners[i].name.sin_addr));
        if (with_port)
            printf(":%d", ntohs(listeners[i].name.sin_port));
        putchar('\n');
    }
}

static void add_listener(char *text)
{
    char *colon = strchr(text, ':');

    if (!colon || listener_count == LISTENERS)
        return;
    *colon = '\0';
    listeners[listener_count++].name =
        (struct sockaddr_in){.sin_family      = AF_INET,
                             .sin_port        = htons((unsigned short)atoi(colon + 1)),
                             .sin_addr.s_addr = inet_addr(text)};
}

/* Ports that another process uses already are occupied, too. */
static void occupy(int first, int last)
{
    for (int port = first; port <= last; port++) {
        struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
        int                fd   = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (fd >= 0 && bind(fd, (struct sockaddr *)&name, sizeof name) == 0)
            listen(fd, 1);
    }
    puts("occupied");
    fflush(stdout);
    while (getchar() != EOF)
        ;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";

    if (argc < 4)
        return 2;
    if (strcmp(mode, "occupy") == 0) {
        occupy(atoi(argv[2]), atoi(argv[3]));
        return 0;
    }
    if (strcmp(mode, "visit") == 0) {
        begin_random(argv[3]);
        for (int i = 4; i < argc; i++)
            add_listener(argv[i]);
        disturb(atof(argv[2]));
        return listener_count > 0 ? 0 : 1;
    }
    begin_random(argc > 4 ? argv[4] : NULL);
    find_listeners(argv[2]);
    if (strcmp(mode, "disturb") == 0)
        disturb(atof(argv[3]));
    else if (strcmp(mode, "flood") == 0)
        flood(atof(argv[3]));
    else
        print_listeners(strcmp(mode, "ports") == 0);
    return listener_count > 0 ? 0 : 1;
}
