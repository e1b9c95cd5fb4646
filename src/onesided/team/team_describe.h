/* SPDX-License-Identifier: Apache-2.0 */
/* team_describe.h - what errors say of the calls of team collectives. */
#ifndef SKI_TEAM_DESCRIBE_H
#define SKI_TEAM_DESCRIBE_H

#include "onesided/team/team_call.h"

#define SKI_DESCRIBE_STR 160 /* bytes of a description */

/** Returns the public function of an enum ski_collective. */
const char *ski_collective_name(unsigned collective);

/** Describes a call for errors, in @p text: "skua_team_reduce of double by sum to rank 0". */
const char *ski_collective_describe(const struct ski_team_kind *kind, char text[SKI_DESCRIBE_STR]);

/** Returns the operator of a struct ski_team_kind. */
static inline skua_op ski_op_numbered(uint16_t number)
{
    return (skua_op){number};
}

#endif
