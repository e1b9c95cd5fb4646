# SPDX-License-Identifier: Apache-2.0
# Installs headers, documentation and libraries; tools, examples and benchmarks install themselves.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/skua DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/include/skua/version.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/skua)
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md cmake/copyright
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
# The pages have the folders of the source, so that links between them, and to examples and headers,
# remain valid.
install(DIRECTORY docs/guide docs/internals docs/decisions DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(FILES docs/glossary.md docs/layers.svg DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(DIRECTORY examples apps editors include DESTINATION ${CMAKE_INSTALL_DOCDIR}
        PATTERN CMakeLists.txt EXCLUDE)

# Libraries, and find_package(skua).
install(TARGETS skua skua_static EXPORT skua
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/skua)
install(EXPORT skua NAMESPACE skua:: FILE skuaTargets.cmake DESTINATION ${package})
configure_package_config_file(cmake/skuaConfig.cmake.in ${PROJECT_BINARY_DIR}/skuaConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/skuaConfigVersion.cmake
                                 COMPATIBILITY SameMajorVersion)
install(FILES cmake/skuaInterface.cmake ${PROJECT_BINARY_DIR}/skuaConfig.cmake ${PROJECT_BINARY_DIR}/skuaConfigVersion.cmake
        DESTINATION ${package})

# pkg-config skua.  Its paths are relative to its own folder, so that an installation may be moved.
set(SKUA_LIBS_PRIVATE "-lpthread -ldl")
if(SKUA_TOPOLOGY STREQUAL "hwloc")
  string(APPEND SKUA_LIBS_PRIVATE " -lhwloc")
endif()
configure_file(cmake/skua.pc.in ${PROJECT_BINARY_DIR}/skua.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/skua.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Syntax of interface files, for editors.
install(DIRECTORY editors/ DESTINATION ${CMAKE_INSTALL_DATADIR}/skua/editors)
