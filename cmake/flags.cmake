# SPDX-License-Identifier: Apache-2.0
# Warnings and sanitizers, for everything built here.
add_library(skua_flags INTERFACE)
target_compile_options(skua_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes>
  $<$<BOOL:${SKUA_WERROR}>:-Werror>)
target_compile_definitions(skua_flags INTERFACE _GNU_SOURCE)
if(SKUA_SANITIZE)
  target_compile_options(skua_flags INTERFACE
    -fsanitize=${SKUA_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(skua_flags INTERFACE -fsanitize=${SKUA_SANITIZE})
endif()
