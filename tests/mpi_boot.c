/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_boot.c - bootstrap by MPI of a job that mpiexec has started (boot/mpi_launcher.h), and the
 * MPI driver in a program that is not linked with MPI.
 *
 * Run by mpi.sh under each mpiexec.  Prints "RANK of SIZE with NEAR over DRIVER".
 *
 * usage: mpi_boot [driver]
 */
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "boot/mpi_launcher.h"
#include "transport/select.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ski_fatal("%s:%d: this does not hold: %s", __FILE__, __LINE__, #condition);            \
    } while (0)

static const struct ski_external_launcher *const mpi = &ski_mpi_launcher;

static struct {
    int  rank, size, *local, local_count;
    bool one_host;
} job;

static void test_near(void)
{
    bool us = false;

    for (int i = 0; i < job.local_count; i++) {
        us |= job.local[i] == job.rank;
        CHECK(i == 0 || job.local[i] > job.local[i - 1]);
    }
    CHECK(us);
}

/* One process of a host sends to the others. */
static void test_share(void)
{
    struct {
        int  first;
        char text[100];
    } blob       = {0};
    size_t bytes = sizeof blob;

    if (job.rank == job.local[0]) {
        blob.first = job.rank;
        strcpy(blob.text, "the arena exists");
        CHECK(mpi->put("arena", &blob, sizeof blob) == SKUA_OK);
        memset(&blob, 0, sizeof blob);
    }
    CHECK(mpi->barrier() == SKUA_OK);
    CHECK(mpi->get(job.local[0], "arena", &blob, &bytes) == SKUA_OK && bytes == sizeof blob);
    CHECK(blob.first == job.local[0] && strcmp(blob.text, "the arena exists") == 0);
}

/* All-to-all exchange of values of different sizes, several at once. */
static void test_gather(void)
{
    int many[100] = {0}, mine = job.rank * job.rank + 1;

    CHECK(mpi->put("square", &mine, sizeof mine) == SKUA_OK);
    CHECK(mpi->put("zeros", many, (size_t)job.rank * sizeof *many) == SKUA_OK);
    CHECK(mpi->barrier() == SKUA_OK);
    for (int i = 0; i < job.size; i++) {
        size_t bytes = sizeof mine, zeros = sizeof many;

        CHECK(mpi->get(i, "square", &mine, &bytes) == SKUA_OK && mine == i * i + 1);
        CHECK(mpi->get(i, "zeros", many, &zeros) == SKUA_OK && zeros == (size_t)i * sizeof *many);
    }
}

/* ---- a packet from each to the next ------------------------------------------------ */

static int came, pending;

static void *room(void *owner, size_t bytes)
{
    (void)owner;
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void arrived(void *owner, void *packet, size_t bytes)
{
    (void)owner;
    CHECK(bytes == 100000 && *(int *)packet == (job.rank + job.size - 1) % job.size);
    free(packet);
    came++;
}

static void sent(void *owner, void *packet)
{
    (void)owner;
    (void)packet;
    pending--;
}

static void lost(void *owner, int pe, const char *reason)
{
    (void)owner;
    ski_fatal("PE %d is lost: %s", pe, reason);
}

static void send_round(const struct ski_driver *driver, struct ski_port *port)
{
    static int       packet[25000];
    char             address[SKI_PORT_ADDRESS_MAX];
    int              next  = (job.rank + 1) % job.size;
    size_t           bytes = driver->address(port, address);
    struct ski_peer *peer;
    skua_status      status;

    CHECK(mpi->put("address", address, bytes) == SKUA_OK && mpi->barrier() == SKUA_OK);
    bytes = sizeof address;
    CHECK(mpi->get(next, "address", address, &bytes) == SKUA_OK);
    CHECK(driver->connect(port, next, address, bytes, &peer) == SKUA_OK);
    packet[0] = job.rank;
    pending   = 1;
    status    = driver->send(peer, packet, sizeof packet);
    CHECK(status == SKUA_OK || status == SKUA_PENDING);
    pending -= status == SKUA_OK;
    while (came < 1 || pending > 0)
        driver->progress(port);
}

static void test_driver(char *words, size_t size)
{
    static const struct ski_upcalls up = {
        .alloc = room, .arrived = arrived, .sent = sent, .lost = lost};
    static struct ski_net    net = {.ports        = 1,
                                    .interfaces   = "auto",
                                    .port_range   = "any",
                                    .peer_timeout = 10,
                                    .log          = ski_log_write,
                                    .last_error   = ski_driver_last_error};
    const struct ski_driver *driver;
    struct ski_port         *port;

    net.process   = job.rank;
    net.processes = job.size;
    driver        = ski_driver_select(&net);
    CHECK(driver && driver->open(job.rank, &up, NULL, &port) == SKUA_OK);
    send_round(driver, port);
    CHECK(mpi->barrier() == SKUA_OK);
    snprintf(words, size, " over %s", driver->describe());
    driver->close(port);
    driver->stop();
}

int main(int argc, char **argv)
{
    char words[128] = "";

    (void)argv;
    if (ski_config_load() != SKUA_OK)
        return 1;
    if (!ski_mpi_launcher_present()) {
        printf("no MPI launcher\n");
        return 0;
    }
    if (mpi->begin(&job.rank, &job.size, &job.local, &job.local_count, &job.one_host) != SKUA_OK)
        return 1;
    CHECK(ski_mpi_missing() == NULL);
    test_near();
    test_share();
    test_gather();
    if (argc > 1)
        test_driver(words, sizeof words);
    printf("%d of %d with %d%s\n", job.rank, job.size, job.local_count, words);
    fflush(stdout);
    free(job.local);
    mpi->end(true);
    return 0;
}
