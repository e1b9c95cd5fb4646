# SPDX-License-Identifier: Apache-2.0
#
# The libraries that Skua uses.  Only threads are required.  A part whose library is not found is
# left out, and a message names it; scripts/setup.sh has the names of the packages.
include(CheckSymbolExists)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# SKUA_OPTIONAL=OFF builds as on a system that has none of the others.  A find command searches
# again for a variable that is NOTFOUND, but not for one that has a value, even an empty one.
set(skua_optional HWLOC_LIBRARY HWLOC_INCLUDE XXHASH_INCLUDE ZSTD_LIBRARY ZSTD_INCLUDE PMIX_INCLUDE UCP_LIBRARY UCX_INCLUDE OFI_LIBRARY OFI_INCLUDE
    CRYPTO_LIBRARY CRYPTO_INCLUDE SCOTCH_LIBRARY SCOTCHERR_LIBRARY SCOTCH_INCLUDE
    FFTW_LIBRARY FFTW_MPI_LIBRARY FFTW_INCLUDE OPENBLAS_LIBRARY OPENBLAS_INCLUDE
    SKUA_MPICC SKUA_MPICC_openmpi SKUA_MPICC_mpich SKUA_OSHCC SKUA_CHARMC SKUA_ARMCI SKUA_SCALAPACK
    SKUA_GA_openmpi SKUA_GA_mpich SKUA_ARMCI_openmpi SKUA_ARMCI_mpich SKUA_SCALAPACK_openmpi
    SKUA_SCALAPACK_mpich SKUA_MPIFC_openmpi SKUA_MPIFC_mpich)
# The wrappers that a cross build finds compile for the build system: it uses those that are given.
set(skua_wrappers SKUA_MPICC SKUA_MPICC_openmpi SKUA_MPICC_mpich SKUA_OSHCC SKUA_CHARMC
    SKUA_MPIFC_openmpi SKUA_MPIFC_mpich)
foreach(variable ${skua_optional})
  if(NOT SKUA_OPTIONAL)
    set(${variable} "" CACHE STRING "Left out by SKUA_OPTIONAL=OFF" FORCE)
  elseif(CMAKE_CROSSCOMPILING AND variable IN_LIST skua_wrappers)
    set(${variable} "" CACHE STRING "Of the target system; left out of a cross build by default")
  elseif(DEFINED CACHE{${variable}} AND "$CACHE{${variable}}" STREQUAL "")
    unset(${variable} CACHE) # SKUA_OPTIONAL was OFF before
  endif()
endforeach()

set(SKUA_TOPOLOGY plain)
if(NOT SKUA_HWLOC STREQUAL "OFF")
  find_library(HWLOC_LIBRARY hwloc)
  find_path(HWLOC_INCLUDE hwloc.h)
  if(HWLOC_LIBRARY AND HWLOC_INCLUDE)
    set(SKUA_TOPOLOGY hwloc)
  elseif(SKUA_HWLOC STREQUAL "ON")
    message(FATAL_ERROR "SKUA_HWLOC=ON, but hwloc was not found (Debian: libhwloc-dev, Fedora: hwloc-devel)")
  else()
    message(STATUS "hwloc was not found: cores and caches are not known (Debian: libhwloc-dev, Fedora: hwloc-devel)")
  endif()
endif()

# xxHash, for the checksums of checkpoints: its header alone, which has XXH3 from version 0.8 on.
find_path(XXHASH_INCLUDE xxhash.h)
set(SKUA_CHECKSUM_SOURCE checksum_none.c)
if(XXHASH_INCLUDE)
  set(CMAKE_REQUIRED_INCLUDES ${XXHASH_INCLUDE})
  set(CMAKE_REQUIRED_DEFINITIONS -DXXH_INLINE_ALL)
  check_symbol_exists(XXH3_64bits xxhash.h SKUA_XXH3)
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_DEFINITIONS)
endif()
if(XXHASH_INCLUDE AND SKUA_XXH3)
  set(SKUA_CHECKSUM_SOURCE checksum_xxhash.c)
else()
  message(STATUS "xxHash 0.8 was not found: checkpoints are not written to files (Debian: libxxhash-dev, Fedora: xxhash-devel)")
endif()

# FFTW, for apps/fft1d; FFTW-MPI, for the program that it is compared with.
find_library(FFTW_LIBRARY fftw3)
find_library(FFTW_MPI_LIBRARY fftw3_mpi)
find_path(FFTW_INCLUDE fftw3.h)
if(NOT FFTW_LIBRARY OR NOT FFTW_INCLUDE)
  set(FFTW_LIBRARY "")
  message(STATUS "FFTW was not found: fft1d is not built (Debian: libfftw3-dev, Fedora: fftw-devel)")
endif()

# OpenBLAS, for the products of matrices in apps/.  A sanitizer checks only code that is compiled with
# it, so products are plain loops in such builds, and where OpenBLAS was not found.
find_library(OPENBLAS_LIBRARY openblas)
find_path(OPENBLAS_INCLUDE openblas_config.h PATH_SUFFIXES openblas)
set(SKUA_GEMM plain)
if(OPENBLAS_LIBRARY AND OPENBLAS_INCLUDE)
  set(CMAKE_REQUIRED_INCLUDES ${OPENBLAS_INCLUDE})
  set(CMAKE_REQUIRED_LIBRARIES ${OPENBLAS_LIBRARY})
  check_symbol_exists(openblas_set_num_threads cblas.h SKUA_OPENBLAS) # cblas.h may be another's
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()
if(OPENBLAS_LIBRARY AND SKUA_OPENBLAS AND NOT SKUA_SANITIZE)
  set(SKUA_GEMM openblas)
elseif(NOT SKUA_SANITIZE)
  message(STATUS "OpenBLAS was not found: products of matrices are slow (Debian: libopenblas-dev, Fedora: openblas-devel)")
endif()

# PMIx: the headers are needed now; the library is loaded when a program runs.
find_path(PMIX_INCLUDE pmix.h PATH_SUFFIXES pmix pmix2/include lib/${CMAKE_LIBRARY_ARCHITECTURE}/pmix2/include
          HINTS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pmix2/include)
if(PMIX_INCLUDE)
  set(SKUA_PMIX_SOURCE pmix.c)
else()
  set(SKUA_PMIX_SOURCE pmix_none.c)
  message(STATUS "PMIx was not found: mpirun and srun cannot start jobs (Debian: libpmix-dev, Fedora: pmix-devel)")
endif()

# The MPIs, by their compiler wrappers: SKUA_MPICC_openmpi and SKUA_MPICC_mpich.  Debian gives each
# wrapper a name of its own, Fedora a folder.  The only MPI of a system may have the plain name mpicc.
foreach(mpi openmpi mpich)
  find_program(SKUA_MPICC_${mpi} NAMES mpicc.${mpi})
  find_program(SKUA_MPICC_${mpi} NAMES mpicc PATHS /usr/lib64/${mpi}/bin NO_DEFAULT_PATH)
endforeach()
find_program(SKUA_MPICC mpicc)
if(SKUA_MPICC AND NOT (SKUA_MPICC_openmpi AND SKUA_MPICC_mpich))
  execute_process(COMMAND ${SKUA_MPICC} --showme:version OUTPUT_VARIABLE version ERROR_QUIET)
  if(version MATCHES "Open MPI")
    set(kind openmpi)
  else()
    set(kind mpich)
  endif()
  if(NOT SKUA_MPICC_${kind})
    set(SKUA_MPICC_${kind} ${SKUA_MPICC})
  endif()
endif()

# Makes a target use an MPI as its compiler wrapper would: `-show' prints the command of the wrapper.
function(skua_link_mpi target compiler)
  execute_process(COMMAND ${compiler} -show OUTPUT_VARIABLE line OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(words UNIX_COMMAND "${line}")
  foreach(word ${words})
    if(word MATCHES "^-I(.+)")
      target_include_directories(${target} SYSTEM PRIVATE ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-L(.+)")
      target_link_directories(${target} PRIVATE ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-l")
      target_link_libraries(${target} PRIVATE ${word})
    elseif(word MATCHES "^-Wl,")
      target_link_options(${target} PRIVATE ${word})
    endif()
  endforeach()
endfunction()
