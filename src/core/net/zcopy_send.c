/* SPDX-License-Identifier: Apache-2.0 */
/* zcopy_send.c - see zcopy_send.h. */
#include "core/net/zcopy_send.h"

#include "base/assert.h"
#include "transport/driver.h"

bool ski_zcopy_send_supported(void)
{
    const struct ski_driver *driver = ski_net_driver();
    return driver && driver->send_split;
}

bool ski_zcopy_send_takes(size_t bytes)
{
    const struct ski_driver *driver = ski_net_driver();

    return ski_zcopy_send_supported() && (driver->split_max == 0 || bytes <= driver->split_max);
}

/* The status is not needed: the loss of a peer ends what waits for it elsewhere. */
static void zcopy_send_done(struct ski_net_done *done, skua_status status)
{
    struct ski_zcopy_send send = *(struct ski_zcopy_send *)done;

    (void)status;
    ski_pool_free(&send.self->pool, send.msg);
    if (send.fn)
        send.fn(send.self, send.arg);
}

bool ski_zcopy_send(struct ski_pe *self, int pe, struct skua_msg *msg, size_t header,
                    const void *data, size_t bytes, ski_zcopy_send_fn fn, void *arg)
{
    struct ski_zcopy_send *send = (void *)ski_zcopy_send_record(msg, header);

    ski_assert((uintptr_t)send % _Alignof(struct ski_zcopy_send) == 0);
    *send      = (struct ski_zcopy_send){{zcopy_send_done}, self, msg, fn, arg};
    msg->bytes = header + bytes;
    return ski_net_send_split(self, pe, msg, data, bytes, &send->done);
}
