/* SPDX-License-Identifier: Apache-2.0 */
/*
 * armci_layout.c - prints what objects that were compiled with an armci.h rely on: sizes, offsets
 * and values. The outputs for two headers are compared.
 */
#include <stddef.h>
#include <stdio.h>

#include <armci.h>

#define SIZE(type)           printf("sizeof(" #type ") %zu\n", sizeof(type))
#define OFFSET(type, member) printf(#type "." #member " %zu\n", offsetof(type, member))
#define VALUE(name)          printf(#name " %d\n", (int)(name))

int main(void)
{
    SIZE(armci_size_t);
    SIZE(armci_hdl_t);
    SIZE(armci_giov_t);
    OFFSET(armci_giov_t, src_ptr_array);
    OFFSET(armci_giov_t, dst_ptr_array);
    OFFSET(armci_giov_t, bytes);
    OFFSET(armci_giov_t, ptr_array_len);
    SIZE(ARMCI_Group);
    OFFSET(ARMCI_Group, comm);
    OFFSET(ARMCI_Group, rank);
    OFFSET(ARMCI_Group, size);
    SIZE(armci_domain_t);
    VALUE(ARMCI_ACC_INT);
    VALUE(ARMCI_ACC_LNG);
    VALUE(ARMCI_ACC_FLT);
    VALUE(ARMCI_ACC_DBL);
    VALUE(ARMCI_ACC_CPL);
    VALUE(ARMCI_ACC_DCP);
    VALUE(ARMCI_FETCH_AND_ADD);
    VALUE(ARMCI_FETCH_AND_ADD_LONG);
    VALUE(ARMCI_SWAP);
    VALUE(ARMCI_SWAP_LONG);
    VALUE(SCOPE_ALL);
    VALUE(SCOPE_NODE);
    VALUE(SCOPE_MASTERS);
    VALUE(ARMCI_INT);
    VALUE(ARMCI_LONG);
    VALUE(ARMCI_LONG_LONG);
    VALUE(ARMCI_FLOAT);
    VALUE(ARMCI_DOUBLE);
    VALUE(ARMCI_DOMAIN_SMP);
    return 0;
}
