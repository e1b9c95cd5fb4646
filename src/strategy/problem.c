/* SPDX-License-Identifier: Apache-2.0 */
/* problem.c - see problem.h: the check, and the writer. */
#include "strategy/problem.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- the check ----------------------------------------------------------------------------- */

static bool problem_refuse(char *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool problem_refuse(char *text, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(text, SKI_PROBLEM_TEXT, format, args);
    va_end(args);
    return false;
}

/* Returns whether a time is valid; false for NaN, too. */
static bool problem_amount(double value)
{
    return value >= 0 && value <= SKI_PROBLEM_MAX;
}

/* Returns whether a speed is valid; 0 means 1. */
static bool problem_speed(double value)
{
    return problem_amount(value) && (value == 0 || value >= 1 / SKI_PROBLEM_MAX);
}

static bool problem_check_pe(const skua_strategy_problem *problem, int32_t p, char *text)
{
    const skua_strategy_pe *pe = &problem->pe[p];

    if (!problem_amount(pe->background) || !problem_amount(pe->idle) || !problem_speed(pe->speed))
        return problem_refuse(
            text,
            "PE %d: background %g and idle %g have to be 0 to %g, speed %g has to "
            "be 0 or %g to %g",
            p, pe->background, pe->idle, SKI_PROBLEM_MAX, pe->speed, 1 / SKI_PROBLEM_MAX,
            SKI_PROBLEM_MAX);
    if (pe->host < 0 || pe->host >= problem->hosts)
        return problem_refuse(text, "PE %d: host %d, but the hosts are 0 to %d", p, pe->host,
                              problem->hosts - 1);
    return true;
}

static bool problem_check_object(const skua_strategy_problem *problem, uint32_t i, char *text)
{
    const skua_strategy_object *object = &problem->object[i];

    if (object->pe < 0 || object->pe >= problem->pes)
        return problem_refuse(text, "object %" PRIu32 ": PE %d, but the PEs are 0 to %d", i,
                              object->pe, problem->pes - 1);
    if (!problem_amount(object->load))
        return problem_refuse(text, "object %" PRIu32 ": load %g, which has to be 0 to %g", i,
                              object->load, SKI_PROBLEM_MAX);
    for (int k = 0; k < 3 && object->flags & SKUA_OBJECT_POSITIONED; k++)
        if (!(object->position[k] >= -SKI_PROBLEM_MAX && object->position[k] <= SKI_PROBLEM_MAX))
            return problem_refuse(
                text, "object %" PRIu32 ": a coordinate is %g, which has to be %g to %g", i,
                object->position[k], -SKI_PROBLEM_MAX, SKI_PROBLEM_MAX);
    return true;
}

static bool problem_check_edge(const skua_strategy_problem *problem, uint32_t k, char *text)
{
    const skua_strategy_edge *edge = &problem->edge[k], *last = edge - 1;

    if (edge->from >= problem->objects || edge->to >= problem->objects)
        return problem_refuse(text,
                              "edge %" PRIu32 ": from object %" PRIu32 " to object %" PRIu32
                              ", but there are %" PRIu32,
                              k, edge->from, edge->to, problem->objects);
    if (edge->from == edge->to)
        return problem_refuse(text, "edge %" PRIu32 ": from object %" PRIu32 " to itself", k,
                              edge->from);
    if (k > 0 && (edge->from < last->from || (edge->from == last->from && edge->to <= last->to)))
        return problem_refuse(text,
                              "edge %" PRIu32 ": edges have to be sorted, each pair of objects "
                              "once",
                              k);
    return true;
}

bool ski_problem_check(const skua_strategy_problem *problem, char *text)
{
    if (problem->pes < 1 || problem->hosts < 1)
        return problem_refuse(text, "%d PEs on %d hosts: there has to be one", problem->pes,
                              problem->hosts);
    if (!problem_amount(problem->seconds_per_message) || !problem_amount(problem->seconds_per_byte))
        return problem_refuse(text, "the cost of a message or byte has to be 0 to %g",
                              SKI_PROBLEM_MAX);
    for (int32_t p = 0; p < problem->pes; p++)
        if (!problem_check_pe(problem, p, text))
            return false;
    for (uint32_t i = 0; i < problem->objects; i++)
        if (!problem_check_object(problem, i, text))
            return false;
    for (uint32_t k = 0; k < problem->edges; k++)
        if (!problem_check_edge(problem, k, text))
            return false;
    return true;
}

/* ---- the writer ---------------------------------------------------------------------------- */

/* Writes a number so that reading it gives the same value.  The locale of the program may have
 * another decimal point than JSON. */
static void problem_write_number(FILE *to, const char *name, double value)
{
    char text[32], *point;

    snprintf(text, sizeof text, "%.9g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, sizeof text, "%.17g", value);
    point = text + strspn(text, "+-0123456789eE");
    if (*point)
        *point = '.';
    fprintf(to, "%s%s", name, text);
}

static void problem_write_pes(FILE *to, const skua_strategy_problem *problem)
{
    fprintf(to, " \"pes\": [");
    for (int32_t p = 0; p < problem->pes; p++) {
        const skua_strategy_pe *pe = &problem->pe[p];

        fprintf(to, "%s\n  {\"pe\": %d, \"host\": %d", p ? "," : "", pe->pe, pe->host);
        problem_write_number(to, ", \"background\": ", pe->background);
        problem_write_number(to, ", \"idle\": ", pe->idle);
        problem_write_number(to, ", \"speed\": ", pe->speed);
        fprintf(to, "}");
    }
    fprintf(to, "\n ],\n");
}

static void problem_write_objects(FILE *to, const skua_strategy_problem *problem)
{
    fprintf(to, " \"objects\": [");
    for (uint32_t i = 0; i < problem->objects; i++) {
        const skua_strategy_object *object = &problem->object[i];

        fprintf(to, "%s\n  {\"pe\": %d", i ? "," : "", object->pe);
        problem_write_number(to, ", \"load\": ", object->load);
        fprintf(to, ", \"bytes\": %" PRIu64, object->bytes);
        if (!(object->flags & SKUA_OBJECT_MOVABLE))
            fprintf(to, ", \"movable\": false");
        for (int k = 0; k < 3 && object->flags & SKUA_OBJECT_POSITIONED; k++)
            problem_write_number(to, k ? ", " : ", \"position\": [", object->position[k]);
        fprintf(to, object->flags & SKUA_OBJECT_POSITIONED ? "]}" : "}");
    }
    fprintf(to, "\n ]");
}

static void problem_write_edges(FILE *to, const skua_strategy_problem *problem)
{
    if (!problem->edges)
        return;
    fprintf(to, ",\n \"edges\": [");
    for (uint32_t k = 0; k < problem->edges; k++) {
        const skua_strategy_edge *edge = &problem->edge[k];

        fprintf(to, "%s\n  [%" PRIu32 ", %" PRIu32 ", %" PRIu64 ", %" PRIu64 "]", k ? "," : "",
                edge->from, edge->to, edge->messages, edge->bytes);
    }
    fprintf(to, "\n ]");
}

static void problem_write_hops(FILE *to, const skua_strategy_problem *problem)
{
    if (!problem->hops || problem->hosts == 1)
        return;
    fprintf(to, ",\n \"hops\": [");
    for (int a = 0; a < problem->hosts; a++) {
        for (int b = 0; b < problem->hosts; b++)
            fprintf(to, "%s%d",
                    b   ? ", "
                    : a ? "],\n  ["
                        : "\n  [",
                    ski_problem_hops(problem, a, b));
    }
    fprintf(to, "]\n ]");
}

void ski_problem_write(FILE *to, const skua_strategy_problem *problem)
{
    fprintf(to,
            "{\n \"format\": \"skua-loads\", \"version\": %d, \"hosts\": %d, \"seed\": %" PRIu64
            ",\n",
            SKI_PROBLEM_VERSION, problem->hosts, problem->seed);
    problem_write_number(to, " \"seconds_per_message\": ", problem->seconds_per_message);
    problem_write_number(to, ", \"seconds_per_byte\": ", problem->seconds_per_byte);
    fprintf(to, ",\n");
    problem_write_pes(to, problem);
    problem_write_objects(to, problem);
    problem_write_edges(to, problem);
    problem_write_hops(to, problem);
    fprintf(to, "\n}\n");
}
