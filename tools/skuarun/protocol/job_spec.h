/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_spec.h - the job specification: what an agent has to run.
 *
 * Encoded, it is a struct job_spec_head, the CPU of each PE of the agent if the launcher has chosen
 * them, the agent of each process, the processes of the epoch before whose images the PEs of the
 * agent read, and strings, each with its terminating 0: the working
 * directory, the environment variables, the arguments.
 */
#ifndef SKUARUN_JOB_SPEC_H
#define SKUARUN_JOB_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"

/** The largest encoded job specification, in bytes. */
#define JOB_SPEC_MAX ((size_t)8 << 20)

struct job_spec_head {
    int32_t pes, pes_per_process;    /* of the job */
    int32_t agent;                   /* the number of this agent */
    int32_t epoch;                   /* from 1 on; 0: the job was not started with --survive */
    int32_t host_first_pe, host_pes; /* PEs of the job that share the CPUs of the agent:
                                        its own first one among them, and their number */
    int32_t  cpus;                   /* CPUs that follow: of each PE of the host, or 0         */
    int32_t  agents;                 /* of the job; the agent of each process follows */
    int32_t  reads;                  /* processes whose images the agent's PEs read */
    int32_t  setting_count, argument_count;
    uint8_t  one_host, label, verbose, terminal;
    uint8_t  cpus_shared; /* PEs of other agents are bound to CPUs of ours, too; set by the agent */
    uint64_t secret[2];
    uint64_t generation; /* of images that the epoch restores; 0: none */
};

struct job_spec {
    struct job_spec_head head;
    int                 *cpu;       /* head.cpus of them, or NULL */
    int                 *agent_of;  /* by process: the agent that starts it */
    int                 *read;      /* head.reads processes of the epoch before, or NULL */
    char                *text;      /* the memory of the strings, if it was decoded */
    const char          *directory; /* the working directory */
    char               **setting;   /* NAME=VALUE for the environment, ended by NULL */
    char               **argument;  /* ended by NULL */
};

/** Appends the encoded specification to @p to. */
void job_spec_encode(const struct job_spec *spec, struct buffer *to);

/** Decodes a specification.  Returns false if it is invalid.  Call job_spec_free() in any case. */
bool job_spec_decode(struct job_spec *spec, const char *data, size_t bytes);

/** Frees what job_spec_decode() allocated. */
void job_spec_free(struct job_spec *spec);

/** Returns the number of processes of the job. */
int job_spec_processes(const struct job_spec_head *head);

/** Returns the number of PEs of the processes of @p agent. */
int job_spec_pes(const struct job_spec *spec, int agent);

#endif
