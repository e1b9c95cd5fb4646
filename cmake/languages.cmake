# SPDX-License-Identifier: Apache-2.0
#
# Languages other than C.  The library needs none: C++ is for an example, Fortran for the module.  The
# module is built if there is a Fortran compiler, and Python, which generates it from the headers.
include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER)
  enable_language(CXX)
  set(CMAKE_CXX_EXTENSIONS OFF)
endif()

set(SKUA_FORTRAN AUTO CACHE STRING "Build the Fortran module: AUTO, ON or OFF")
set(SKUA_HAVE_FORTRAN OFF)
if(SKUA_FORTRAN STREQUAL "ON" OR (SKUA_FORTRAN STREQUAL "AUTO" AND SKUA_OPTIONAL AND NOT SKUA_SANITIZE))
  check_language(Fortran)
  find_program(SKUA_PYTHON python3)
  if(CMAKE_Fortran_COMPILER AND SKUA_PYTHON)
    enable_language(Fortran)
    set(SKUA_HAVE_FORTRAN ON)
  elseif(SKUA_FORTRAN STREQUAL "ON")
    message(FATAL_ERROR "SKUA_FORTRAN=ON, but gfortran or python3 was not found")
  else()
    message(STATUS "gfortran or python3 was not found: the Fortran module is not built (Debian: gfortran python3)")
  endif()
endif()
