/* SPDX-License-Identifier: Apache-2.0 */
/* exit_report.h - how a process of the job ended: a record for the monitor, and a text for the
 * user. */
#ifndef SKUARUN_EXIT_REPORT_H
#define SKUARUN_EXIT_REPORT_H

#include <stdint.h>

/** Size of the text that says why a process failed, or why it could not be started. */
#define REASON_BYTES 2304

/** The end of one process.  An agent sends it to the launcher as it is in memory. */
struct exit_report {
    int32_t  process;
    int32_t  status;  /* as returned by waitpid()                              */
    int32_t  state;   /* the last enum ski_process_state of the process        */
    uint32_t phase;   /* the phase that the process joined last; 0: none       */
    int32_t  symptom; /* 1 if the process aborted because it lost another one  */
    int32_t  ordered; /* 1 if the launcher has killed it                       */
    uint32_t survive; /* not 0: milliseconds between two checkpoints in memory, which the program
                         requests: it ended so that it is started again (relaunch.h) */
};

#endif
