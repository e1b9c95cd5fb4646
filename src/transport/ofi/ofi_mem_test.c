/* SPDX-License-Identifier: Apache-2.0 */
/* ofi_mem_test.c - registered memory and its keys, with a provider of this test, which binds
 * regions to endpoints as cxi does, or does not. */
#include <string.h>

#include "tests/tap.h"
#include "transport/ofi/ofi.h"

struct ski_ofi ski_ofi = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the provider --------------------------------------------------------------------- */

#define PROVIDER_REGIONS 64

static struct provider_region {
    struct fid_mr mr;
    struct fid   *bound;
    bool          enabled, open;
} provider_region[PROVIDER_REGIONS];

static int provider_regions, provider_limit = PROVIDER_REGIONS;

static struct provider_region *provider_find(struct fid *fid)
{
    return (struct provider_region *)(void *)fid;
}

static int provider_close(struct fid *fid)
{
    tap_bad += !provider_find(fid)->open;
    provider_find(fid)->open = false;
    return 0;
}

static int provider_bind(struct fid *fid, struct fid *to, uint64_t flags)
{
    (void)flags;
    provider_find(fid)->bound = to;
    return 0;
}

static int provider_control(struct fid *fid, int command, void *arg)
{
    (void)arg;
    provider_find(fid)->enabled = command == FI_ENABLE;
    return 0;
}

static struct fi_ops provider_ops = {.size    = sizeof provider_ops,
                                     .close   = provider_close,
                                     .bind    = provider_bind,
                                     .control = provider_control};

static int provider_reg(struct fid *fid, const void *base, size_t bytes, uint64_t access,
                        uint64_t offset, uint64_t key, uint64_t flags, struct fid_mr **mr,
                        void *context)
{
    struct provider_region *region = &provider_region[provider_regions];

    (void)fid, (void)base, (void)bytes, (void)access, (void)offset, (void)flags, (void)context;
    if (provider_regions == provider_limit)
        return -FI_ENOMEM;
    *region            = (struct provider_region){.open = true};
    region->mr.fid.ops = &provider_ops;
    region->mr.key     = 1000 + (uint64_t)provider_regions++;
    *mr                = &region->mr;
    (void)key;
    return 0;
}

static int provider_open_regions(void)
{
    int n = 0;

    for (int i = 0; i < provider_regions; i++)
        n += provider_region[i].open;
    return n;
}

/* ---- tests ------------------------------------------------------------------------------ */

static char mem_test_error[SKI_REASON_MAX];

static char *mem_test_last_error(void)
{
    return mem_test_error;
}

static uint64_t mem_test_key(const void *wire, size_t bytes, int pe)
{
    struct ski_peer         peer = {.pe = pe};
    struct ski_driver_rkey *key;
    uint64_t                value;

    if (ski_ofi_rkey_unpack(&peer, wire, bytes, &key) != SKUA_OK)
        return 0;
    value = key->key;
    tap_bad += key->base != 4096 || key->bytes != 100;
    ski_ofi_rkey_destroy(key);
    return value;
}

static void test_mem_process(void)
{
    struct ski_driver_mem *memory;
    char                   wire[SKI_RKEY_MAX];
    size_t                 bytes;

    OK(ski_ofi_mem_reg((void *)4096, 100, &memory) == SKUA_OK && provider_regions == 1 &&
           !provider_region[0].bound,
       "memory is registered once for the process");
    bytes = ski_ofi_rkey_pack(memory, wire);
    OK(mem_test_key(wire, bytes, 3) == 1000 && mem_test_key(wire, bytes, 4) == 1000,
       "its key is for all ports");
    OK(mem_test_key(wire, bytes - 1, 3) == 0 && mem_test_key(wire, 8, 3) == 0 &&
           mem_test_key(wire, 16, 3) == 0 && mem_test_key(wire, SKI_RKEY_MAX + 16, 3) == 0,
       "an rkey of another length is refused");
    ski_ofi_mem_dereg(memory);
    OK(provider_open_regions() == 0, "and deregistered once");
}

static void test_mem_ports(struct ski_port *port, struct fid_ep *ep)
{
    struct ski_driver_mem *memory;
    char                   wire[SKI_RKEY_MAX];
    size_t                 bytes;

    OK(ski_ofi_mem_reg((void *)4096, 100, &memory) == SKUA_ERR_UNSUPPORTED,
       "without a port nothing can be bound");
    for (int i = 0; i < 2; i++) {
        port[i] = (struct ski_port){.ep = &ep[i], .pe = 3 + i};
        ski_ofi_mem_add_port(&port[i]);
    }
    provider_regions = 0;
    OK(ski_ofi_mem_reg((void *)4096, 100, &memory) == SKUA_OK && provider_regions == 2,
       "with FI_MR_ENDPOINT once for each port");
    OK(provider_region[0].bound == &ep[1].fid && provider_region[1].bound == &ep[0].fid &&
           provider_region[0].enabled && provider_region[1].enabled,
       "each bound to its endpoint, and enabled");
    bytes = ski_ofi_rkey_pack(memory, wire);
    OK(mem_test_key(wire, bytes, 4) == 1000 && mem_test_key(wire, bytes, 3) == 1001 &&
           mem_test_key(wire, bytes, 5) == 0,
       "a peer gets the key of its own port, and none if it has none");
    ski_ofi_mem_remove_port(&port[1]);
    OK(provider_open_regions() == 1, "a port that is closed ends its regions");
    bytes = ski_ofi_rkey_pack(memory, wire);
    OK(mem_test_key(wire, bytes, 4) == 0 && mem_test_key(wire, bytes, 3) == 1001,
       "and is left out of the rkey");
    ski_ofi_mem_dereg(memory);
    OK(provider_open_regions() == 0, "the rest ends with the memory");
}

static void test_mem_failures(struct ski_port *port, struct fid_ep *ep)
{
    struct ski_driver_mem *memory;

    ski_ofi_mem_add_port(&port[1]);
    provider_regions = 0;
    provider_limit   = 1;
    OK(ski_ofi_mem_reg((void *)4096, 100, &memory) == SKUA_ERR_SYSTEM &&
           provider_open_regions() == 0,
       "a failure leaves no region: %s", mem_test_error);
    provider_limit   = PROVIDER_REGIONS;
    provider_regions = 0;
    for (int i = 2; i < 32; i++) {
        port[i] = (struct ski_port){.ep = ep, .pe = 3 + i};
        ski_ofi_mem_add_port(&port[i]);
    }
    OK(ski_ofi_mem_reg((void *)4096, 100, &memory) == SKUA_ERR_UNSUPPORTED &&
           provider_open_regions() == 0,
       "more ports than an rkey has room for");
}

int main(void)
{
    static struct ski_port   port[32];
    static struct fid_ep     ep[2];
    static struct fi_ops_mr  mr_ops = {.size = sizeof mr_ops, .reg = provider_reg};
    static struct fid_domain domain = {.mr = &mr_ops};
    struct fi_domain_attr    attr   = {0};
    struct fi_info           info   = {.domain_attr = &attr};
    struct ski_net           net    = {.last_error = mem_test_last_error};

    ski_ofi.net    = &net;
    ski_ofi.info   = &info;
    ski_ofi.domain = &domain;
    ski_ofi.rma    = true;
    test_mem_process();
    attr.mr_mode = FI_MR_ENDPOINT;
    test_mem_ports(port, ep);
    test_mem_failures(port, ep);
    return tap_end();
}
