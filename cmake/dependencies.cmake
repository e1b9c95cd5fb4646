# SPDX-License-Identifier: Apache-2.0
# What Skua stands on.  hwloc is optional: without it nothing is known of cores.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

set(SKUA_TOPOLOGY plain)
if(NOT SKUA_HWLOC STREQUAL OFF)
  find_library(HWLOC_LIBRARY hwloc)
  find_path(HWLOC_INCLUDE hwloc.h)
  if(HWLOC_LIBRARY AND HWLOC_INCLUDE)
    set(SKUA_TOPOLOGY hwloc)
  elseif(SKUA_HWLOC STREQUAL ON)
    message(FATAL_ERROR "hwloc was asked for and not found; on Debian: apt-get install libhwloc-dev")
  else()
    message(STATUS "hwloc was not found: cores and caches will not be known")
  endif()
endif()

# PMIx: its headers now, its library when a program runs.
find_path(PMIX_INCLUDE pmix.h PATH_SUFFIXES pmix pmix2/include lib/${CMAKE_LIBRARY_ARCHITECTURE}/pmix2/include
          HINTS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pmix2/include)
if(PMIX_INCLUDE)
  set(SKUA_PMIX_SOURCE pmix.c)
else()
  set(SKUA_PMIX_SOURCE pmix_none.c)
  message(STATUS "PMIx was not found: mpirun and srun will not be able to start jobs")
endif()
