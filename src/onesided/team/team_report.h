/* SPDX-License-Identifier: Apache-2.0 */
/* team_report.h - which calls of teams wait for other members, for reports on a job that makes no
 * progress. */
#ifndef SKI_TEAM_REPORT_H
#define SKI_TEAM_REPORT_H

#include "base/arch.h"

struct ski_pe;
struct ski_text;

/** Appends the oldest call of each team of @p self that is in flight. */
SKI_COLD void ski_teams_report(const struct ski_pe *self, struct ski_text *text);

#endif
