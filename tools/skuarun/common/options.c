/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "common/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <skua/version.h>

#include "base/config.h"
#include "base/memory.h"
#include "boot/job.h"

static const char help[] =
    "usage: skuarun [options] program [arguments]\n"
    "\n"
    "Start a Skua program on this host, or on several.\n"
    "\n"
    "  -n, --pes=N          number of PEs (default: one per core); also --np, -np\n"
    "  -t, --threads=N      PEs of each process, as threads (default: SKUA_THREADS, else 1)\n"
    "  -l, --label          prefix every line of output with its PEs: [3] or [4-7]\n"
    "      --pin=WHERE      auto, none, or CPUs such as 0,2,4-7 (default: auto)\n"
    "  -H, --hosts=A:N,B:N  the hosts, with the number of PEs on each\n"
    "      --launcher=HOW   start agents by ssh, srun, or a command in which %h is the\n"
    "                       host (default: srun in a Slurm job, else ssh)\n"
    "      --agent-path=P   path of skuarun on the hosts (default: its path here)\n"
    "  -x, --export=A,B     environment variables to pass to the hosts, besides the usual\n"
    "                       ones\n"
    "  -s, --set=NAME=VALUE change a setting; `skua info --config' lists them\n"
    "      --restart=DIR    restart from the newest checkpoint in DIR, on any number of PEs\n"
    "      --survive[=S]    recover from the death of a process with a checkpoint in memory,\n"
    "                       made every S seconds (default: 10)\n"
    "      --spare=N        with --survive: replace up to N processes that died, then\n"
    "                       continue with fewer PEs (default: replace all)\n"
    "  -v, --verbose        print where each process is started\n"
    "  -h, --help           print this text\n"
    "  -V, --version        print the version\n"
    "\n"
    "examples:\n"
    "  skuarun -n 8 ./app         eight processes of one PE\n"
    "  skuarun -n 8 -t 4 ./app    two processes of four PEs\n"
    "  skuarun -H a:8,b:8 ./app   eight PEs on each of two hosts\n"
    "  skuarun -l -s log_level=info ./app\n"
    "  skuarun --survive=60 -H a:8,b:8 ./app\n"
    "\n"
    "The exit code is the argument of skua_exit(); if a process fails, its exit code,\n"
    "or 128 plus the signal that killed it.  2: an option or a setting is invalid.\n";

static const struct option long_options[] = {
    {"pes", required_argument, NULL, 'n'},
    {"np", required_argument, NULL, 'n'},
    {"threads", required_argument, NULL, 't'},
    {"label", no_argument, NULL, 'l'},
    {"pin", required_argument, NULL, 'p'},
    {"hosts", required_argument, NULL, 'H'},
    {"launcher", required_argument, NULL, 'L'},
    {"agent-path", required_argument, NULL, 'a'},
    {"export", required_argument, NULL, 'x'},
    {"set", required_argument, NULL, 's'},
    {"restart", required_argument, NULL, 'R'},
    {"survive", optional_argument, NULL, 'S'},
    {"spare", required_argument, NULL, 'P'},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static void run_options_error(const char *format, const char *what)
{
    fprintf(stderr, "skuarun: ");
    fprintf(stderr, format, what);
    fprintf(stderr, " (skuarun --help)\n");
    exit(2);
}

static int run_options_number(const char *text, const char *option)
{
    char *end;
    long  n;

    errno = 0;
    n     = strtol(text, &end, 10);
    if (errno || *end || end == text || n < 1 || n > SKI_JOB_PES_MAX)
        run_options_error(option, text);
    return (int)n;
}

/* Refuses a variable that is no setting: one of a former name with the present one. */
static void run_options_check_name(const char *variable, const char *assignment)
{
    char nearest[SKI_CONFIG_NAME];

    if (ski_config_is_setting(variable, nearest))
        return;
    if (ski_config_reject_renamed() != SKUA_OK)
        exit(2);
    fprintf(stderr, "skuarun: --set=%s: %s is not a setting", assignment, variable);
    if (*nearest)
        fprintf(stderr, "; did you mean %s?", nearest);
    fprintf(stderr, " (skua info --config)\n");
    exit(2);
}

/* Sets the environment variable of a setting: "log_level=info" sets SKUA_LOG_LEVEL.  The name may
 * carry the prefix SKUA_ already. */
static void run_options_set(const char *assignment)
{
    const char *value = strchr(assignment, '=');
    char        name[128];
    int         n;

    if (!value || value == assignment)
        run_options_error("--set=%s: expected NAME=VALUE", assignment);
    n = snprintf(name, sizeof name, "%s%.*s", strncasecmp(assignment, "SKUA_", 5) ? "SKUA_" : "",
                 (int)(value - assignment), assignment);
    if (n < 0 || (size_t)n >= sizeof name)
        run_options_error("--set=%s: the name is too long", assignment);
    for (char *c = name; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    setenv(name, value + 1, 1);
    run_options_check_name(name, assignment);
}

/* -n N; -np N, as mpirun has it, is parsed as -n with the argument "p". */
static int run_options_pes(int argc, char **argv)
{
    const char *text = optarg;

    if (strcmp(argv[optind - 1], "-np") == 0) {
        if (optind == argc)
            run_options_error("%s", "-np: expected a number from 1 to 65535");
        text = argv[optind++];
    }
    return run_options_number(text, "-n %s: expected a number from 1 to 65535");
}

/* --survive[=SECONDS] */
static void run_options_survive(struct run_options *options, const char *seconds)
{
    char  *end;
    double value = seconds ? strtod(seconds, &end) : 1;

    if (seconds && (*end || end == seconds || !(value > 0) || value > 1e9))
        run_options_error("--survive=%s: expected a number of seconds", seconds);
    setenv("SKUA_SURVIVE", seconds ? seconds : "10", 1);
    options->survive = true;
}

/* --spare=N: 0 is allowed. */
static int run_options_spare(const char *text)
{
    static const char expected[] = "--spare=%s: expected a number from 0 to 65535";

    return strcmp(text, "0") == 0 ? 0 : run_options_number(text, expected);
}

/* --export=A,B, once or several times: returns the names of all. */
static const char *run_options_export(const char *before, const char *names)
{
    size_t bytes = strlen(before) + strlen(names) + 2;
    char  *both  = ski_malloc(bytes);

    if (strchr(names, '='))
        run_options_error("--export=%s: expected names of environment variables, without values",
                          names);
    snprintf(both, bytes, "%s%s%s", before, before[0] ? "," : "", names);
    return both;
}

/* --restart=DIR: processes may have another working directory. */
static void run_options_restart(const char *folder)
{
    struct stat status;
    char       *path = realpath(folder, NULL);

    if (path && stat(path, &status) == 0 && !S_ISDIR(status.st_mode)) {
        free(path);
        path  = NULL;
        errno = ENOTDIR;
    }
    if (!path) {
        fprintf(stderr, "skuarun: --restart=%s: %s\n", folder, strerror(errno));
        exit(2);
    }
    setenv("SKUA_RESTART", path, 1);
    free(path);
}

struct run_options run_options_parse(int argc, char **argv)
{
    struct run_options options = {.spare = -1, .exports = ""};
    int                c;

    /* "+": parsing stops at the program; the options after it are its own. */
    while ((c = getopt_long(argc, argv, "+n:t:lH:x:s:vhV", long_options, NULL)) != -1) {
        switch (c) {
        case 'n': options.pes = run_options_pes(argc, argv); break;
        case 't':
            options.threads =
                run_options_number(optarg, "-t %s: expected a number from 1 to 65535");
            break;
        case 'l': options.label = true; break;
        case 'p': setenv("SKUA_PIN", optarg, 1); break;
        case 'H': options.hosts = optarg; break;
        case 'L': setenv("SKUA_LAUNCHER", optarg, 1); break;
        case 'a': setenv("SKUA_AGENT_PATH", optarg, 1); break;
        case 'x': options.exports = run_options_export(options.exports, optarg); break;
        case 's': run_options_set(optarg); break;
        case 'R': run_options_restart(optarg); break;
        case 'S': run_options_survive(&options, optarg); break;
        case 'P': options.spare = run_options_spare(optarg); break;
        case 'v': options.verbose = true; break;
        case 'h': fputs(help, stdout); exit(0);
        case 'V': puts("skuarun " SKUA_VERSION); exit(0);
        default: fputs("(skuarun --help)\n", stderr); exit(2);
        }
    }
    if (getenv("SKUA_SURVIVE") && strtod(getenv("SKUA_SURVIVE"), NULL) > 0)
        options.survive = true;
    if (options.spare >= 0 && !options.survive)
        run_options_error("%s", "--spare requires --survive");
    if (optind == argc || !argv[optind][0])
        run_options_error("%s", "no program given");
    options.command = argv + optind;
    return options;
}
