# SPDX-License-Identifier: Apache-2.0
#
# What scripts/check.sh, which sets SKUA_ONLY_TESTED, does not build of the presets `checked', `asan' and
# `tsan': programs that none of their tests runs are not part of the target `all'.  Such a build cannot be
# installed; each program can still be built by its name.
set(unused "")
if(SKUA_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Checked")
  set(unused man reference_man skua_static skua_shmem_static tour
    test_connections test_forger test_misuse_table test_mpi_boot test_uneven faulty-ofi faulty-ucx)
endif()
if(SKUA_SANITIZE)
  list(APPEND unused test_protected_migration)
endif()

# ThreadSanitizer sees only one process, and the tests of `checked' are those of the runtime: neither runs
# the tests of tools and of misuse.
if(SKUA_SANITIZE MATCHES thread OR CMAKE_BUILD_TYPE STREQUAL "Checked")
  list(APPEND unused skua_tool embed test_checkpoint test_checkpoint_pes test_checkpoint_refused
    test_checkpoint_sections test_checkpoint_state test_checkpoint_threads test_embed_misuse test_handoff
    test_hangs test_host_messages test_hosts_probe test_misbehave test_ownership test_pup_misuse test_refused
    test_stranger)
endif()
if(SKUA_SANITIZE MATCHES thread)
  list(APPEND unused skua-shmem skua_shmem_objects test_shmem test_barneshut_parts test_first_put test_fmm_parts
    test_gemm-plain test_learned_move test_lu_parts test_nocopy_back test_put_patience)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Checked")
  skua_targets_of(targets apps examples)
  list(APPEND unused ${targets})
  skua_targets_of(targets tests)
  list(FILTER targets INCLUDE REGEX "^fuzz_")
  list(APPEND unused ${targets} packet_fuzz test_broadcasts test_buffer_gone test_drivers test_large
    test_message_graph test_shmem_cxx test_shmem_misuse test_shmem_profile test_shmem_profile_static
    test_shmem_static test_sync_points test_topology)
endif()

foreach(target ${unused})
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endforeach()
