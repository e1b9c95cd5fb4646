/* SPDX-License-Identifier: Apache-2.0 */
/* remote_agent_test.c - the command line of the remote shell, from its template. */
#include "launcher/remote_agent.h"

#include <string.h>

#include "base/config.h"
#include "tests/tap.h"

static bool remote_agent_test_command(const char *launcher, const char *expected)
{
    struct hosts_entry  host  = {.name = "node7", .pes = 1};
    struct remote_agent agent = {.host = &host};
    char                text[256];

    ski_config.launcher = launcher;
    remote_agent_command(&agent, text, sizeof text);
    if (strcmp(text, expected) != 0)
        printf("# \"%s\" instead of \"%s\"\n", text, expected);
    return strcmp(text, expected) == 0;
}

int main(void)
{
    OK(remote_agent_test_command("rsh %h", "rsh node7"), "%%h is the host");
    OK(remote_agent_test_command("x  --to=%h:%h -%", "x --to=node7:node7 -%"),
       "also within a word and twice; other %% stay, and spaces separate");
    OK(remote_agent_test_command("ssh", "ssh -T -o BatchMode=yes -o ConnectTimeout=20 node7"),
       "ssh has a template");
    OK(remote_agent_test_command("", ""), "no words");
    return tap_end();
}
