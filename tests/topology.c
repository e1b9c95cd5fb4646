/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.c - hosts, hops and nearest PEs of a job, on every PE.
 *
 * usage: topology [KIND HOPS]   the kind of the interconnect, and the hops of the pairs of hosts
 *                               0-1, 0-2, ..., 1-2, ... as digits, of as many as there are
 *
 * Without arguments the network must be unknown.
 */
#include <skua/skua.h>

#include <string.h>

#include "tap.h"

static _Thread_local int         topology_kind; /* kind of the interconnect */
static _Thread_local const char *topology_hops;

/* Returns the hops between two hosts according to the arguments. */
static int topology_expected(int a, int b)
{
    int n = 0;

    if (a == b)
        return 0;
    for (int x = 0; x < skua_hosts(); x++)
        for (int y = x + 1; y < skua_hosts(); y++, n++)
            if ((x == a && y == b) || (x == b && y == a))
                return topology_hops ? topology_hops[n] - '0' : 1;
    return -1;
}

static void topology_check_hosts(void)
{
    int pes = 0;

    for (int host = 0; host < skua_hosts(); host++) {
        CHECK(skua_host_name(host)[0]);
        for (int i = 0; i < skua_host_pes(host); i++, pes++)
            CHECK(skua_host_of(skua_host_pe(host, i)) == host);
        for (int other = 0; other < skua_hosts(); other++)
            CHECK(skua_host_hops(host, other) == topology_expected(host, other));
    }
    CHECK(pes == skua_pes());
    for (int a = 0; a < skua_pes(); a++)
        for (int b = 0; b < skua_pes(); b++)
            CHECK(skua_hops(a, b) == skua_host_hops(skua_host_of(a), skua_host_of(b)));
}

static void topology_check_interconnect(void)
{
    skua_interconnect of;
    int               coord[SKUA_TORUS_DIMS] = {0};

    skua_interconnect_get(&of, sizeof of);
    CHECK((int)of.kind == topology_kind);
    for (int host = 0; host < skua_hosts(); host++) {
        CHECK((skua_host_switch(host, 0) != NULL) == (of.kind == SKUA_INTERCONNECT_TREE));
        CHECK(skua_host_switch(host, of.levels) == NULL);
        CHECK(skua_host_coord(host, coord) == of.dims);
        if (of.dims > 0)
            CHECK(skua_host_hops(skua_host_at(coord), host) <= 1);
    }
    coord[0] = -1;
    CHECK(skua_host_at(coord) == -1);
}

/* Nearest PEs are distinct, in ascending order of distance. */
static void topology_check_nearest(int pe)
{
    int nearest[64], seen[64] = {0}, n = skua_nearest(pe, 64, nearest), two[2];

    CHECK(n == skua_pes() - 1);
    seen[pe] = 1;
    for (int i = 0; i < n; i++) {
        CHECK(!seen[nearest[i]]++);
        CHECK(i == 0 || skua_hops(pe, nearest[i]) >= skua_hops(pe, nearest[i - 1]));
        CHECK(pe != skua_pe() || i == 0 ||
              skua_distance(nearest[i]) >= skua_distance(nearest[i - 1]));
    }
    CHECK(skua_nearest(pe, 2, two) == (n < 2 ? n : 2));
    CHECK(n == 0 || two[0] == nearest[0]);
    CHECK(skua_nearest(pe, 0, NULL) == 0);
}

static void start(int argc, char **argv)
{
    topology_kind = argc > 2 ? argv[1][0] - '0' : 0;
    topology_hops = argc > 2 ? argv[2] : NULL;
    CHECK(skua_pes() <= 64);
    topology_check_hosts();
    topology_check_interconnect();
    for (int pe = 0; pe < skua_pes(); pe++)
        topology_check_nearest(pe);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    return skua_main(argc, argv, start);
}
