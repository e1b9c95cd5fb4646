/* SPDX-License-Identifier: Apache-2.0 */
/* iof_test.c - I/O forwarding: lines stay whole and labelled, and input is written as the pipe
 * accepts it. */
#include "processes/iof.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/tap.h"

static char   iof_test_written[4096];
static size_t iof_test_bytes;

static void iof_test_sink(void *arg, int to, const char *text, size_t bytes)
{
    (void)arg, (void)to;
    memcpy(iof_test_written + iof_test_bytes, text, bytes);
    iof_test_bytes += bytes;
    iof_test_written[iof_test_bytes] = '\0';
}

/* Compares what was written since the last call. */
static bool iof_test_is(const char *expected)
{
    bool equal = strcmp(iof_test_written, expected) == 0;

    if (!equal)
        printf("# \"%s\" instead of \"%s\"\n", iof_test_written, expected);
    iof_test_bytes      = 0;
    iof_test_written[0] = '\0';
    return equal;
}

/* A process writes @p text into its pipe. */
static void iof_test_say(struct iof_output *output, int pipe, const char *text)
{
    if (write(pipe, text, strlen(text)) != (ssize_t)strlen(text))
        OK(false, "a write to a pipe");
    iof_output_read(output);
}

static void iof_test_lines(void)
{
    struct iof_output one = {.to = STDOUT_FILENO, .label = "[0] "};
    struct iof_output two = {.to = STDERR_FILENO};
    int               a[2], b[2];

    if (pipe2(a, O_CLOEXEC) < 0 || pipe2(b, O_CLOEXEC) < 0) {
        OK(false, "pipes");
        return;
    }
    one.fd = a[0];
    two.fd = b[0];
    iof_test_say(&one, a[1], "first li");
    OK(iof_test_is(""), "an incomplete line is kept");
    iof_test_say(&two, b[1], "other\n");
    iof_test_say(&one, a[1], "ne\nsecond\nthi");
    OK(iof_test_is("other\n[0] first line\n[0] second\n"),
       "complete lines are written and labelled");
    iof_output_flush(&one);
    OK(iof_test_is("[0] thi"), "a flush writes the rest");
    iof_test_say(&two, b[1], "between\n");
    OK(iof_test_is("\nbetween\n"), "another output starts a new line first");
    iof_test_say(&one, a[1], "rd\nend");
    close(a[1]);
    iof_output_read(&one);
    OK(iof_test_is("[0] rd\n[0] end") && one.fd == -1, "the end of the pipe writes the rest");
    close(b[1]);
    iof_output_read(&two);
    OK(iof_test_is("") && two.fd == -1, "an end without text writes nothing");
    iof_output_write(&two, "\n", 1);
    OK(iof_test_is("\n\n"), "an empty line is written");
}

/* Input that the pipe does not accept stays pending, and arrives unchanged. */
static void iof_test_input(void)
{
    static struct iof_input input; /* too large for the stack */
    static char             text[sizeof input.text], got[sizeof text];
    int                     ends[2];
    size_t                  bytes = 0;
    ssize_t                 n     = 0;

    if (pipe2(ends, O_CLOEXEC) < 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) < 0 ||
        fcntl(ends[1], F_SETPIPE_SZ, 4096) < 0) {
        OK(false, "a small pipe");
        return;
    }
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i % 251);
    input = (struct iof_input){.from = -1, .to = ends[1]};
    iof_input_put(&input, text, sizeof text);
    OK(iof_input_pending(&input), "input that does not fit the pipe is pending");
    while (bytes < sizeof got && (n = read(ends[0], got + bytes, sizeof got - bytes)) > 0) {
        bytes += (size_t)n;
        iof_input_write(&input);
    }
    OK(!iof_input_pending(&input) && memcmp(text, got, sizeof text) == 0, "it arrives unchanged");
    iof_input_put(&input, text, 0);
    OK(input.to == -1 && read(ends[0], got, 1) == 0, "no bytes are the end of the input");
    close(ends[0]);
}

int main(void)
{
    iof_set_sink(iof_test_sink, NULL);
    iof_test_lines();
    iof_test_input();
    return tap_end();
}
