# SPDX-License-Identifier: Apache-2.0
# ebb_test(NAME source... [LINK target...] [LABELS label...] [TIMEOUT seconds] [ARGS argument...])
#
# One doctest program, registered with ctest under NAME. Labels: `fast` unless `slow` is given; `shared` for tests that
# read EBB_SHARED_DIR (they skip with a message when it is absent: tests/support/shared_dir.hpp); `threads` for those
# that run under ThreadSanitizer too. The folder's name is a label of its own. main() is one shared object.
add_library(ebb_test_main OBJECT "${PROJECT_SOURCE_DIR}/tests/support/doctest_main.cpp")
target_link_libraries(ebb_test_main PUBLIC ebb_options doctest::doctest)
add_custom_target(ebb_fast_tests)    # builds what `ctest -L fast` runs
add_custom_target(ebb_threads_tests) # builds what `ctest -L threads` runs

function(ebb_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "LINK;LABELS;ARGS")
  if(NOT arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ebb_test(${name}): no sources")
  endif()
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ebb_test_main ${arg_LINK})
  target_compile_definitions(${name} PRIVATE EBB_SHARED_DIR="${EBB_SHARED_DIR}" EBB_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/bin")
  add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
  get_filename_component(folder "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  set(labels ${folder} ${arg_LABELS})
  if(NOT "slow" IN_LIST labels)
    list(APPEND labels fast)
  endif()
  foreach(label fast threads)
    if(label IN_LIST labels)
      add_dependencies(ebb_${label}_tests ${name})
    endif()
  endforeach()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${arg_TIMEOUT})
endfunction()

# ebb_fuzz(NAME source... CORPUS folder [LINK target...])
#
# The sources define LLVMFuzzerTestOneInput. Always: the test NAME_corpus, which runs every file of the corpus through
# it (so under the sanitizer presets too). With EBB_BUILD_FUZZERS: the libFuzzer program build/fuzz/tests/bin/NAME.
function(ebb_fuzz name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CORPUS" "LINK")
  get_filename_component(corpus "${arg_CORPUS}" ABSOLUTE)
  get_filename_component(folder "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  add_executable(${name}_corpus ${arg_UNPARSED_ARGUMENTS} "${PROJECT_SOURCE_DIR}/tests/support/fuzz_replay_main.cpp")
  target_link_libraries(${name}_corpus PRIVATE ebb_options ${arg_LINK})
  set_target_properties(${name}_corpus PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/bin")
  add_test(NAME ${name}_corpus COMMAND ${name}_corpus "${corpus}")
  set_tests_properties(${name}_corpus PROPERTIES LABELS "${folder};fast" TIMEOUT 600)
  add_dependencies(ebb_fast_tests ${name}_corpus)
  if(EBB_BUILD_FUZZERS)
    add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
    target_link_libraries(${name} PRIVATE ebb_options ${arg_LINK})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/bin")
  endif()
endfunction()
