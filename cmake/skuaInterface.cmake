# SPDX-License-Identifier: Apache-2.0
#
# skua_add_interface(TARGET file.ci... [INCLUDE folder...] [LANGUAGE C|CXX])
#
# Translates interface files and adds the output to a target: file.ci.c is compiled with it, as
# C or, with LANGUAGE CXX, as C++; file.ci.h is found by #include "file.ci.h".  Other interface files
# that these name with `extern module` are searched for in the same folder and in the given folders,
# and the target depends on them.
function(skua_add_interface target)
  cmake_parse_arguments(arg "" "LANGUAGE" "INCLUDE" ${ARGN})
  if(NOT arg_LANGUAGE)
    set(arg_LANGUAGE C)
  elseif(NOT arg_LANGUAGE MATCHES "^(C|CXX)$")
    message(FATAL_ERROR "skua_add_interface: LANGUAGE is C or CXX, not ${arg_LANGUAGE}")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.skuac)
  file(MAKE_DIRECTORY ${folder})
  set(options -o ${folder})
  set(skuac skua::skuac) # which CMAKE_CROSSCOMPILING_EMULATOR runs, if there is one
  if(SKUA_SANITIZE) # in Skua's own builds: a short run need not check for leaks
    set(skuac ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 $<TARGET_FILE:skua::skuac>)
  endif()
  foreach(include ${arg_INCLUDE})
    get_filename_component(include ${include} ABSOLUTE)
    list(APPEND options -I ${include})
  endforeach()
  foreach(interface ${arg_UNPARSED_ARGUMENTS})
    get_filename_component(path ${interface} ABSOLUTE)
    get_filename_component(name ${interface} NAME)
    get_filename_component(beside ${path} DIRECTORY)
    add_custom_command(OUTPUT ${folder}/${name}.c
      BYPRODUCTS ${folder}/${name}.h # skuac writes it only if its contents change
      COMMAND ${skuac} ${options} --deps ${path} > ${folder}/${name}.d
      COMMAND ${skuac} ${options} ${path}
      DEPENDS ${path} skua::skuac
      DEPFILE ${folder}/${name}.d
      COMMENT "Translating ${name}" VERBATIM)
    set_source_files_properties(${folder}/${name}.c PROPERTIES LANGUAGE ${arg_LANGUAGE})
    target_sources(${target} PRIVATE ${folder}/${name}.c)
    target_include_directories(${target} PRIVATE ${folder} ${beside})
  endforeach()
endfunction()
