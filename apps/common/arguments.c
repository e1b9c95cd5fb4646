/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.c - see arguments.h. */
#include "arguments.h"

#include <errno.h>
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

/* What is wrong with a value; NULL: nothing. */
typedef const char *trouble;

static const char not_a_number[] = "not a number", out_of_bounds[] = "out of bounds";

/* A number, up to the end of the text or a comma, where *text is then. */
static trouble read_number(int64_t *number, const char **text, const struct argument *argument)
{
    char *end;

    errno   = 0;
    *number = strtoll(*text, &end, 10);
    if (end == *text || (*end && *end != ','))
        return not_a_number;
    *text = end;
    return errno || *number < argument->least || *number > argument->most ? out_of_bounds : NULL;
}

static trouble read_one_number(int64_t *number, const char *text, const struct argument *argument)
{
    trouble wrong = read_number(number, &text, argument);

    return wrong ? wrong : *text ? not_a_number : NULL;
}

static trouble read_sizes(int64_t *sizes, const char *text, const struct argument *argument)
{
    for (int i = 0; i < 3; i++) {
        trouble wrong = read_number(&sizes[i], &text, argument);

        if (wrong)
            return wrong;
        if (*text++ != (i < 2 ? ',' : 0))
            return "not three numbers";
    }
    return NULL;
}

static trouble read_list(struct argument_list *list, const char *text,
                         const struct argument *argument)
{
    for (list->count = 0; list->count < ARGUMENT_LIST_MOST; text++) {
        trouble wrong = read_number(&list->at[list->count++], &text, argument);

        if (wrong || !*text)
            return wrong;
    }
    return "too many numbers";
}

static trouble read_real(double *real, const char *text, const struct argument *argument)
{
    char *end;

    *real = strtod(text, &end);
    if (end == text || *end)
        return not_a_number;
    return *real >= (double)argument->least && *real <= (double)argument->most ? NULL
                                                                               : out_of_bounds;
}

static trouble read_word(char *word, const char *text)
{
    return snprintf(word, ARGUMENT_WORD_BYTES, "%s", text) < ARGUMENT_WORD_BYTES ? NULL
                                                                                 : "too long";
}

static trouble read_value(const struct argument *argument, const char *text)
{
    if (!text)
        return "a value is missing";
    switch (argument->kind) {
    case ARGUMENT_NUMBER: return read_one_number(argument->to, text, argument);
    case ARGUMENT_SIZES: return read_sizes(argument->to, text, argument);
    case ARGUMENT_LIST: return read_list(argument->to, text, argument);
    case ARGUMENT_REAL: return read_real(argument->to, text, argument);
    case ARGUMENT_WORD: return read_word(argument->to, text);
    case ARGUMENT_FLAG: break;
    }
    return "it has no value";
}

/* The argument of that name, which ends at its end or at `=`; NULL: there is none. */
static const struct argument *find(const struct arguments *arguments, const char *text)
{
    size_t length = strncmp(text, "--", 2) ? 0 : strcspn(text + 2, "=");

    for (const struct argument *argument = arguments->argument; argument->name; argument++)
        if (length == strlen(argument->name) && strncmp(text + 2, argument->name, length) == 0)
            return argument;
    return NULL;
}

/* Reads argv[*i], and the word after it if that is its value. */
static trouble read_one(const struct arguments *arguments, char **argv, int *i)
{
    const struct argument *argument = find(arguments, argv[*i]);
    const char            *value    = strchr(argv[*i], '=');

    if (!argument)
        return "not understood";
    if (argument->kind == ARGUMENT_FLAG && !value) {
        *(bool *)argument->to = true;
        return NULL;
    }
    return read_value(argument, value ? value + 1 : argv[++*i]);
}

static bool refuse(const struct arguments *arguments, const char *text, trouble wrong)
{
    const struct argument *argument = find(arguments, text);

    fprintf(stderr, "%s: %s: %s", arguments->program, text, wrong);
    if (wrong == out_of_bounds)
        fprintf(stderr, ", %lld to %lld", (long long)argument->least, (long long)argument->most);
    fprintf(stderr, "; --help tells what there is\n");
    skua_exit(2);
    return false;
}

bool arguments_read(const struct arguments *arguments, int argc, char **argv)
{
    const char *at;
    trouble     wrong;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            print_help(arguments);
            skua_exit(0);
            return false;
        }
        at    = argv[i];
        wrong = read_one(arguments, argv, &i); /* argv ends with NULL */
        if (wrong)
            return refuse(arguments, at, wrong);
    }
    return true;
}
