/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ack_policy.h - whether somebody who goes out uses to be back soon.
 *
 * Trusted is who was back within `soon` each of the last `need` times.  need begins with 8
 * and doubles, to 4096, each time that somebody who was trusted or not was not back: who is
 * back a few times and then computes, again and again, abuses it once or a few times, and
 * then once in thousands.
 */
#ifndef SKI_ACK_POLICY_H
#define SKI_ACK_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#define SKI_TRUST_FIRST 8
#define SKI_TRUST_MOST  4096

struct ski_trust {
    uint32_t quick, need; /* times that it was back soon, and must have been */
    uint64_t since;       /* ticks: out since then; 0: it is not             */
    uint64_t soon;        /* ticks; 0: nobody is trusted                     */
};

static inline struct ski_trust ski_trust(uint64_t soon)
{
    return (struct ski_trust){.need = SKI_TRUST_FIRST, .soon = soon};
}

/** It goes out at @p now, in ticks. */
static inline void ski_trust_out(struct ski_trust *trust, uint64_t now)
{
    trust->since = now | 1;
}

/** It was out, and is back. */
static inline void ski_trust_back(struct ski_trust *trust, uint64_t now)
{
    if ((int64_t)(now - trust->since) <= (int64_t)trust->soon) {
        trust->quick++;
    } else {
        trust->quick = 0;
        trust->need  = trust->need < SKI_TRUST_MOST ? 2 * trust->need : SKI_TRUST_MOST;
    }
    trust->since = 0;
}

static inline bool ski_trusted(const struct ski_trust *trust)
{
    return trust->quick >= trust->need && trust->soon > 0;
}

#endif
