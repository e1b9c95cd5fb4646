/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_share_test.c - the share of a thread that has a CPU, waits for one, or is not known. */
#include "objects/measure/cpu_share.h"

#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>

#include "tests/tap.h"

/* Uses the CPU for some milliseconds of CPU time. */
static void cpu_test_burn(long ms)
{
    struct timespec now;
    int64_t         end;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    end = now.tv_sec * 1000 + now.tv_nsec / 1000000 + ms;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < end);
}

/* Two processes on one CPU: neither has all of it.  The other one ends by itself,
 * should this one fail. */
static void cpu_test_shared(struct ski_cpu_share *cpu)
{
    cpu_set_t all, one;
    pid_t     other;

    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    if ((other = fork()) == 0) {
        for (int i = 0; i < 200; i++) /* two seconds at most */
            cpu_test_burn(10);
        _exit(0);
    }
    ski_cpu_share_reset(cpu);
    cpu_test_burn(100);
    OK(ski_cpu_share_get(cpu) < 1, "a thread with another on its CPU has a share: %g",
       ski_cpu_share_get(cpu));
    CHECK(kill(other, SIGKILL) == 0 && waitpid(other, NULL, 0) == other);
    sched_setaffinity(0, sizeof all, &all);
}

int main(void)
{
    struct ski_cpu_share cpu, none = {.file = -1};

    ski_cpu_share_open(&cpu);
    OK(ski_cpu_share_get(&cpu) > 0 && ski_cpu_share_get(&cpu) <= 1, "there is a share at first");
    cpu_test_burn(20);
    OK(ski_cpu_share_get(&cpu) > 0 && ski_cpu_share_get(&cpu) <= 1, "it is above 0 and at most 1");
    if (cpu.file >= 0)
        cpu_test_shared(&cpu);
    ski_cpu_share_reset(&none);
    cpu_test_burn(20);
    OK(ski_cpu_share_get(&none) == 1, "what is not known is 1");
    ski_cpu_share_close(&cpu);
    return tap_end();
}
