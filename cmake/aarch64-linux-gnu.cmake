# SPDX-License-Identifier: Apache-2.0
#
# A cross build for aarch64 with the compilers of Debian, as CONTRIBUTING.md describes it.  QEMU runs
# what the build itself needs, such as skuac, and the tests.
#
# SKUA_SYSROOT: a folder into which packages of aarch64 were unpacked, the C library among them;
# without it there are only the libraries that come with the compiler.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SKUA_SYSROOT)

# A compiler that is missing is not replaced by that of the build system.
find_program(SKUA_CROSS_CXX aarch64-linux-gnu-g++)
find_program(SKUA_CROSS_FORTRAN aarch64-linux-gnu-gfortran)
find_program(SKUA_QEMU NAMES qemu-aarch64 qemu-aarch64-static)
mark_as_advanced(SKUA_CROSS_CXX SKUA_CROSS_FORTRAN SKUA_QEMU)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER ${SKUA_CROSS_CXX})
set(CMAKE_Fortran_COMPILER ${SKUA_CROSS_FORTRAN})

set(root /usr/aarch64-linux-gnu)
if(SKUA_SYSROOT)
  set(root ${SKUA_SYSROOT})
  set(CMAKE_SYSROOT ${root})
endif()
if(SKUA_QEMU AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${SKUA_QEMU} -L ${root})
endif()
set(CMAKE_FIND_ROOT_PATH ${root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
