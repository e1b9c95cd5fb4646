/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.c - see arguments.h. */
#include "arguments.h"

#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN 20 /* where descriptions begin */

static void print_one(const struct argument *argument)
{
    const char *line = argument->help, *end;
    int         used = printf("  --%s%s%s", argument->name, argument->value ? "=" : "",
                      argument->value ? argument->value : "");

    for (; (end = strchr(line, '\n')); line = end + 1, used = 0)
        printf("%*s%.*s\n", used < COLUMN ? COLUMN - used : 1, "", (int)(end - line), line);
    printf("%*s%s\n", used < COLUMN ? COLUMN - used : 1, "", line);
}

static void print_help(const struct arguments *arguments)
{
    printf("usage: skuarun -n PES %s [options]\n\n%s\n\n", arguments->program, arguments->summary);
    for (const struct argument *argument = arguments->argument; argument->name; argument++)
        print_one(argument);
    printf("  --help            this text\n");
}

/* A number, up to the end of the text or a comma; NULL: it is none, or out of bounds. */
static const char *read_number(int64_t *number, const char *text, const struct argument *argument)
{
    char *end;

    *number = strtoll(text, &end, 10);
    if (end == text || *number < argument->least || *number > argument->most)
        return NULL;
    return end;
}

static bool read_sizes(int64_t *sizes, const char *text, const struct argument *argument)
{
    for (int i = 0; i < 3; i++) {
        text = read_number(&sizes[i], text, argument);
        if (!text || *text != (i < 2 ? ',' : 0))
            return false;
        text++;
    }
    return true;
}

static bool read_list(struct argument_list *list, const char *text, const struct argument *argument)
{
    for (list->count = 0; list->count < ARGUMENT_LIST_MOST; text++) {
        text = read_number(&list->at[list->count++], text, argument);
        if (!text || (*text && *text != ','))
            return false;
        if (!*text)
            return true;
    }
    return false;
}

static bool read_real(double *real, const char *text, const struct argument *argument)
{
    char *end;

    *real = strtod(text, &end);
    return end != text && !*end && *real >= (double)argument->least &&
           *real <= (double)argument->most;
}

static bool read_value(const struct argument *argument, const char *text)
{
    const char *end;

    switch (argument->kind) {
    case ARGUMENT_NUMBER: end = read_number(argument->to, text, argument); return end && !*end;
    case ARGUMENT_SIZES: return read_sizes(argument->to, text, argument);
    case ARGUMENT_LIST: return read_list(argument->to, text, argument);
    case ARGUMENT_REAL: return read_real(argument->to, text, argument);
    case ARGUMENT_WORD:
        return snprintf(argument->to, ARGUMENT_WORD_BYTES, "%s", text) < ARGUMENT_WORD_BYTES;
    case ARGUMENT_FLAG: break;
    }
    return false;
}

static bool read_one(const struct arguments *arguments, const char *text)
{
    for (const struct argument *argument = arguments->argument; argument->name; argument++) {
        size_t length = strlen(argument->name);

        if (strncmp(text, "--", 2) != 0 || strncmp(text + 2, argument->name, length) != 0)
            continue;
        if (argument->kind == ARGUMENT_FLAG && text[2 + length] == 0) {
            *(bool *)argument->to = true;
            return true;
        }
        if (text[2 + length] == '=')
            return read_value(argument, text + 2 + length + 1);
    }
    return false;
}

bool arguments_read(const struct arguments *arguments, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            print_help(arguments);
            skua_exit(0);
            return false;
        }
        if (!read_one(arguments, argv[i])) {
            fprintf(stderr, "%s: %s: not understood; --help tells what there is\n",
                    arguments->program, argv[i]);
            skua_exit(2);
            return false;
        }
    }
    return true;
}
