/* SPDX-License-Identifier: Apache-2.0 */
/* async_writer_test.c - output to a reader that is slow, and to one that is gone. */
#include "launcher/async_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "tests/tap.h"

int main(void)
{
    static char         text[300000], got[sizeof text];
    struct async_writer writer = {0};
    int                 ends[2];
    size_t              bytes = 0;
    ssize_t             n     = 0;

    signal(SIGPIPE, SIG_IGN);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return 1;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i % 251);
    writer.fd = ends[1];
    OK(async_writer_pollfd(&writer).fd == -1, "an empty writer is not polled");
    async_writer_add(&writer, text, sizeof text);
    OK(async_writer_flush(&writer) && async_writer_pollfd(&writer).fd == ends[1],
       "a full pipe does not block, and the rest is polled for");
    while (bytes < sizeof got && (n = read(ends[0], got + bytes, sizeof got - bytes)) > 0) {
        bytes += (size_t)n;
        async_writer_flush(&writer);
    }
    OK(memcmp(text, got, sizeof text) == 0 && buffer_bytes(&writer.unsent) == 0,
       "a slow reader receives everything in order");
    close(ends[0]);
    async_writer_add(&writer, text, 10);
    async_writer_flush(&writer);
    OK(writer.error == EPIPE, "a reader that is gone is an error");
    async_writer_add(&writer, text, 10);
    OK(buffer_bytes(&writer.unsent) == 0, "nothing is queued after an error");
    buffer_free(&writer.unsent);
    close(ends[1]);
    return tap_end();
}
