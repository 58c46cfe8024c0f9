# SPDX-License-Identifier: Apache-2.0
# ebb::cadical: a CaDiCaL with the external-propagator interface, from the system or from .deps/cadical.
#
# Its interface changed between 1.x and 2.x and its version() is not to be trusted (1.7.4 says 1.7.3), so the
# signature is told by programs that must link: 1.x returns reasons through cb_add_reason_clause_lit and is given
# notify_assignment(int, bool); 2.x is given notify_assignment(const std::vector<int> &).
# Users get `#include <cadical.hpp>`, EBB_CADICAL_MAJOR (1 or 2) and EBB_CADICAL_VERSION (a string).
include(CheckCXXSourceCompiles)

function(ebb_probe_cadical header_dir archive out)
  set(CMAKE_REQUIRED_INCLUDES "${header_dir}")
  set(CMAKE_REQUIRED_LIBRARIES "${archive}")
  set(CMAKE_REQUIRED_QUIET ON)
  string(MD5 key "${header_dir} ${archive}")
  set(common "
    int cb_decide() override { return 0; }
    bool cb_check_found_model(const std::vector<int> &) override { return true; }
    void notify_new_decision_level() override {}
    void notify_backtrack(size_t) override {}
    int cb_add_external_clause_lit() override { return 0; } };
    int main() { P p; CaDiCaL::Solver s; s.connect_external_propagator(&p); s.add_observed_var(1); return s.solve(); }")
  check_cxx_source_compiles("
    #include <cadical.hpp>
    #include <vector>
    struct P : CaDiCaL::ExternalPropagator {
    void notify_assignment(int, bool) override {}
    bool cb_has_external_clause() override { return false; }
    ${common}" EBB_CADICAL_1_${key})
  check_cxx_source_compiles("
    #include <cadical.hpp>
    #include <vector>
    struct P : CaDiCaL::ExternalPropagator {
    void notify_assignment(const std::vector<int> &) override {}
    bool cb_has_external_clause(bool &) override { return false; }
    ${common}" EBB_CADICAL_2_${key})
  if(EBB_CADICAL_1_${key})
    set(${out} 1 PARENT_SCOPE)
  elseif(EBB_CADICAL_2_${key})
    set(${out} 2 PARENT_SCOPE)
  else()
    set(${out} 0 PARENT_SCOPE)
  endif()
endfunction()

function(ebb_find_cadical)
  set(private "${PROJECT_SOURCE_DIR}/.deps/cadical")
  foreach(where system private)
    if(where STREQUAL "private")
      if(NOT EXISTS "${private}/VERSION" AND EBB_FETCH_CADICAL)
        message(STATUS "CaDiCaL of the system lacks the external-propagator interface: fetching one")
        execute_process(COMMAND sh "${PROJECT_SOURCE_DIR}/cmake/get_cadical.sh" "${private}")
      endif()
      set(header "${private}/include")
      set(archive "${private}/lib/libcadical.a")
    else()
      find_path(EBB_CADICAL_INCLUDE cadical.hpp PATH_SUFFIXES cadical)
      find_library(EBB_CADICAL_LIBRARY NAMES libcadical.a cadical)
      mark_as_advanced(EBB_CADICAL_INCLUDE EBB_CADICAL_LIBRARY)
      set(header "${EBB_CADICAL_INCLUDE}")
      set(archive "${EBB_CADICAL_LIBRARY}")
    endif()
    if(NOT EXISTS "${header}/cadical.hpp" OR NOT EXISTS "${archive}")
      continue()
    endif()
    ebb_probe_cadical("${header}" "${archive}" major)
    if(NOT major)
      continue()
    endif()
    # The version: the package's when known, else what the library says of itself.
    set(version "")
    if(where STREQUAL "private")
      file(STRINGS "${private}/VERSION" version LIMIT_COUNT 1)
    else()
      execute_process(COMMAND dpkg-query -W -f "\${Version}" libcadical-dev OUTPUT_VARIABLE version ERROR_QUIET)
    endif()
    string(REGEX MATCH "^[0-9]+(\\.[0-9]+)*" version "${version}")
    if(NOT version)
      set(version "${major}.x")
    endif()
    message(STATUS "CaDiCaL ${version} (${major}.x interface): ${archive}")
    add_library(ebb_cadical INTERFACE)
    add_library(ebb::cadical ALIAS ebb_cadical)
    target_include_directories(ebb_cadical SYSTEM INTERFACE "${header}")
    target_link_libraries(ebb_cadical INTERFACE "${archive}")
    target_compile_definitions(ebb_cadical INTERFACE
      EBB_CADICAL_MAJOR=${major} EBB_CADICAL_VERSION="${version}")
    return()
  endforeach()
  message(FATAL_ERROR "no CaDiCaL with the external-propagator interface (1.7 or later): install libcadical-dev of "
    "Debian 13 / Ubuntu 24.04 or later, or run cmake/get_cadical.sh .deps/cadical with network")
endfunction()
ebb_find_cadical()
