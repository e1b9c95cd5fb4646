# SPDX-License-Identifier: Apache-2.0
#
# `make package`: a .deb that installs into /usr, if Debian's tools are installed, and a .tar.gz that
# works wherever it is unpacked.  Both have the component `skua`: everything but the peer programs of
# `skua bench`, which need further libraries.
find_program(SKUA_SHLIBDEPS dpkg-shlibdeps)
find_program(SKUA_DPKG_DEB dpkg-deb)

set(CPACK_GENERATOR TGZ)
if(SKUA_SHLIBDEPS AND SKUA_DPKG_DEB)
  list(APPEND CPACK_GENERATOR DEB)
endif()
set(CPACK_PACKAGE_NAME skua)
set(CPACK_PACKAGE_VENDOR "Skua authors")
set(CPACK_PACKAGE_CONTACT "Skua authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "runtime for parallel programs: messages, objects, one-sided communication")
set(CPACK_PACKAGE_DESCRIPTION
"Skua runs parallel programs in C on one host and on many. Work is expressed
as messages that run handlers and methods of migratable objects; data also
moves one-sidedly, between processes of a host through shared memory and
between hosts over TCP, UCX, libfabric or MPI.
.
This package has the library with its headers, the launcher skuarun, the
translator skuac of interface files, the tool skua, the drivers of the
networks, benchmarks, manual pages, the guide and the examples.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGE_FILE_NAME skua-${PROJECT_VERSION}-linux-${SKUA_ARCH})
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};skua;skua;/")
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
# The library's name for packages that link with it, and the refresh of the linker's cache.
file(WRITE ${PROJECT_BINARY_DIR}/deb/shlibs "libskua ${PROJECT_VERSION_MAJOR} skua (>= ${PROJECT_VERSION})\nlibskua-shmem ${PROJECT_VERSION_MAJOR} skua (>= ${PROJECT_VERSION})\n")
file(WRITE ${PROJECT_BINARY_DIR}/deb/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/deb/shlibs ${PROJECT_BINARY_DIR}/deb/triggers)

# The dependencies of the package, which are determined when it is made.
configure_file(cmake/packageDepends.cmake.in ${PROJECT_BINARY_DIR}/packageDepends.cmake @ONLY)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_BINARY_DIR}/packageDepends.cmake)
include(CPack)
