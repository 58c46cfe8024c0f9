# SPDX-License-Identifier: Apache-2.0
# ebb_layer(NAME SOURCES file... DEPENDS target... [PRIVATE_DEPENDS target...])
#
# A static, position-independent library for one folder. DEPENDS (public) and PRIVATE_DEPENDS may name, of our own
# targets, only those of the layer table below: the link lines are the architecture. tests/lint reads the #include
# lines against the same table. A folder without sources yet becomes an INTERFACE library.
set(EBB_LAYERS_ebb_base "")
set(EBB_LAYERS_ebb_problem ebb_base)
set(EBB_LAYERS_ebb_linear ebb_base)
set(EBB_LAYERS_ebb_bounds ebb_base ebb_problem ebb_linear)
set(EBB_LAYERS_ebb_core ebb_base)
set(EBB_LAYERS_ebb_propagators ebb_base ebb_core ebb_linear ebb_bounds)
set(EBB_LAYERS_ebb_heuristics ebb_base ebb_problem ebb_bounds)
set(EBB_LAYERS_ebb_io ebb_base ebb_problem)
set(EBB_LAYERS_ebb_portfolio ebb_base ebb_problem ebb_linear ebb_bounds ebb_core ebb_propagators ebb_heuristics ebb_io)

function(ebb_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS")
  if(arg_UNPARSED_ARGUMENTS OR NOT DEFINED EBB_LAYERS_${name})
    message(FATAL_ERROR "ebb_layer(${name}): not a layer, or stray arguments '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  foreach(dependency IN LISTS arg_DEPENDS arg_PRIVATE_DEPENDS)
    if(dependency MATCHES "^ebb_" AND NOT dependency IN_LIST EBB_LAYERS_${name})
      message(FATAL_ERROR "${name} may not depend on ${dependency}: allowed are ${EBB_LAYERS_${name}}")
    endif()
  endforeach()
  if(arg_SOURCES)
    add_library(${name} STATIC ${arg_SOURCES})
    target_link_libraries(${name} PUBLIC ebb_options ${arg_DEPENDS} PRIVATE ${arg_PRIVATE_DEPENDS})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ebb_options ${arg_DEPENDS})
  endif()
endfunction()
