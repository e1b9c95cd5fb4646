/* SPDX-License-Identifier: Apache-2.0 */
/* config_test.c - settings are read, refused and spell-checked. */
#include "base/config.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static void test_config_bytes(void)
{
    size_t n = 0;

    OK(ski_config_parse_bytes("0", &n) && n == 0, "0");
    OK(ski_config_parse_bytes("4096", &n) && n == 4096, "plain bytes");
    OK(ski_config_parse_bytes("64k", &n) && n == 65536, "k");
    OK(ski_config_parse_bytes("3G", &n) && n == (size_t)3 << 30, "a capital unit");
    OK(ski_config_parse_bytes("1t", &n) && n == (size_t)1 << 40, "t");
    OK(!ski_config_parse_bytes("", &n), "nothing is no size");
    OK(!ski_config_parse_bytes("12q", &n), "an unknown unit");
    OK(!ski_config_parse_bytes("12kb", &n), "something after the unit");
    OK(!ski_config_parse_bytes("-1", &n), "a negative size");
    OK(!ski_config_parse_bytes("99999999t", &n), "more than a size_t holds");
    OK(n == (size_t)1 << 40, "failures leave the result alone");
}

static void test_config_load(void)
{
    setenv("SKUA_ARENA_SIZE", "128m", 1);
    setenv("SKUA_BACKTRACE", "yes", 1);
    setenv("SKUA_IDLE_SPIN", "2.5", 1);
    setenv("SKUA_CHECKPOINT_DIR", "", 1);
    OK(ski_config_load() == SKUA_OK, "good settings load");
    OK(ski_config.arena_size == (size_t)128 << 20, "bytes");
    OK(ski_config.backtrace, "flag");
    OK(ski_config.idle_spin == 2.5, "microseconds");
    OK(ski_config.tree_arity == 4, "a default");
    OK(strcmp(ski_config.checkpoint_dir, "none") == 0, "a text that is empty is the default");
    OK(ski_config.arena_address == 0, "auto");
}

/* Returns whether a load with NAME=VALUE fails. */
static int config_test_refused(const char *name, const char *value)
{
    skua_status status;

    setenv(name, value, 1);
    status = ski_config_load();
    unsetenv(name);
    return status == SKUA_ERR_INVAL;
}

static void test_config_refusals(void)
{
    OK(config_test_refused("SKUA_ARENA_SIZE", "12q"), "a bad size");
    OK(config_test_refused("SKUA_LOG_LEVEL", "loud"), "a bad level");
    OK(config_test_refused("SKUA_BACKTRACE", "maybe"), "a bad flag");
    OK(config_test_refused("SKUA_INBOX_CELLS", "500"), "not a power of two");
    OK(config_test_refused("SKUA_TREE_ARITY", "0"), "a count of 0");
    OK(config_test_refused("SKUA_THREADS", "65536"), "more PEs than a job can have");
    OK(config_test_refused("SKUA_IDLE_SPIN", "-3"), "a negative time");
    OK(config_test_refused("SKUA_PEER_TIMEOUT", "0"), "a timeout of 0");
    OK(config_test_refused("SKUA_ARENA_ADDRESS", "0x400000000001"), "an address off the grid");
    OK(config_test_refused("SKUA_SHARE", "0"), "a former name");
    OK(ski_config_load() == SKUA_OK, "and without them all is well");
}

static void test_config_names(void)
{
    OK(ski_config_check_names() == 0, "known names are not remarked on");
    setenv("SKUA_LOG_LEVLE", "warn", 1);
    OK(ski_config_check_names() == 1, "a misspelt one is");
    unsetenv("SKUA_LOG_LEVLE");
}

int main(void)
{
    test_config_bytes();
    test_config_load();
    test_config_refusals();
    test_config_names();
    return tap_end();
}
