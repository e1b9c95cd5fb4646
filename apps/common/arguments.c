/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.c - see arguments.h. */
#include "arguments.h"

#include <errno.h>
#include <skua/skua.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN 20 /* column at which descriptions begin */

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
    printf("  --help            print this text\n");
}

/* Describes the error in an argument; NULL: it is valid. */
typedef const char *argument_error;

static const char not_a_number[] = "not a number", out_of_bounds[] = "out of bounds";

/* Parses a number that ends at a comma or at the end of *@p text, and moves *@p text there. */
static argument_error read_number(int64_t *number, const char **text,
                                  const struct argument *argument)
{
    char *end;

    errno   = 0;
    *number = strtoll(*text, &end, 10);
    if (end == *text || (*end && *end != ','))
        return not_a_number;
    *text = end;
    return errno || *number < argument->least || *number > argument->most ? out_of_bounds : NULL;
}

static argument_error read_one_number(int64_t *number, const char *text,
                                      const struct argument *argument)
{
    argument_error error = read_number(number, &text, argument);

    return error ? error : *text ? not_a_number : NULL;
}

static argument_error read_sizes(int64_t *sizes, const char *text, const struct argument *argument)
{
    for (int i = 0; i < 3; i++) {
        argument_error error = read_number(&sizes[i], &text, argument);

        if (error)
            return error;
        if (*text++ != (i < 2 ? ',' : 0))
            return "not three numbers";
    }
    return NULL;
}

static argument_error read_list(struct argument_list *list, const char *text,
                                const struct argument *argument)
{
    for (list->count = 0; list->count < ARGUMENT_LIST_MAX; text++) {
        argument_error error = read_number(&list->at[list->count++], &text, argument);

        if (error || !*text)
            return error;
    }
    return "too many numbers";
}

static argument_error read_real(double *real, const char *text, const struct argument *argument)
{
    char *end;

    *real = strtod(text, &end);
    if (end == text || *end)
        return not_a_number;
    return *real >= (double)argument->least && *real <= (double)argument->most ? NULL
                                                                               : out_of_bounds;
}

static argument_error read_word(char *word, const char *text)
{
    return snprintf(word, ARGUMENT_WORD_BYTES, "%s", text) < ARGUMENT_WORD_BYTES ? NULL
                                                                                 : "too long";
}

static argument_error read_value(const struct argument *argument, const char *text)
{
    if (!text)
        return "expected a value";
    switch (argument->kind) {
    case ARGUMENT_NUMBER: return read_one_number(argument->to, text, argument);
    case ARGUMENT_SIZES: return read_sizes(argument->to, text, argument);
    case ARGUMENT_LIST: return read_list(argument->to, text, argument);
    case ARGUMENT_REAL: return read_real(argument->to, text, argument);
    case ARGUMENT_WORD: return read_word(argument->to, text);
    case ARGUMENT_TEXT: *(const char **)argument->to = text; return NULL;
    case ARGUMENT_FLAG: break;
    }
    return "expected no value";
}

/* Finds the argument that @p text, "--name" or "--name=value", names.  Returns NULL if there is
 * none. */
static const struct argument *find_argument(const struct arguments *arguments, const char *text)
{
    size_t length = strncmp(text, "--", 2) ? 0 : strcspn(text + 2, "=");

    for (const struct argument *argument = arguments->argument; argument->name; argument++)
        if (length == strlen(argument->name) && strncmp(text + 2, argument->name, length) == 0)
            return argument;
    return NULL;
}

/* Parses argv[*i], and the next word if that is its value. */
static argument_error read_one(const struct arguments *arguments, char **argv, int *i)
{
    const struct argument *argument = find_argument(arguments, argv[*i]);
    const char            *value    = strchr(argv[*i], '=');

    if (!argument)
        return "unknown option";
    if (argument->kind == ARGUMENT_FLAG && !value) {
        *(bool *)argument->to = true;
        return NULL;
    }
    return read_value(argument, value ? value + 1 : argv[++*i]);
}

static bool print_error(const struct arguments *arguments, const char *text, argument_error error)
{
    const struct argument *argument = find_argument(arguments, text);

    if (skua_pe() == 0) {
        fprintf(stderr, "%s: %s: %s", arguments->program, text, error);
        if (error == out_of_bounds)
            fprintf(stderr, ", expected %lld to %lld", (long long)argument->least,
                    (long long)argument->most);
        fprintf(stderr, " (--help)\n");
    }
    skua_exit(2);
    return false;
}

bool arguments_refuse(const char *program, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    if (skua_pe() == 0) {
        fprintf(stderr, "%s: ", program);
        vfprintf(stderr, format, list);
        fprintf(stderr, "\n");
    }
    va_end(list);
    skua_exit(2);
    return false;
}

void arguments_select(bool *selected, const bool *only, int count)
{
    bool some = false;

    for (int i = 0; i < count; i++)
        some = some || only[i];
    for (int i = 0; i < count; i++)
        selected[i] = !some || only[i];
}

bool arguments_read(const struct arguments *arguments, int argc, char **argv)
{
    const char    *at;
    argument_error error;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            if (skua_pe() == 0)
                print_help(arguments);
            skua_exit(0);
            return false;
        }
        at    = argv[i];
        error = read_one(arguments, argv, &i); /* argv ends with NULL */
        if (error)
            return print_error(arguments, at, error);
    }
    return true;
}
