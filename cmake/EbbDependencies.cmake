# SPDX-License-Identifier: Apache-2.0
# What is not ours. Package names per distribution are in cmake/install_packages.sh.
set(CMAKE_FIND_PACKAGE_PREFER_CONFIG ON)
find_package(Boost 1.81 REQUIRED)
find_package(TBB REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Threads REQUIRED)
find_package(Python3 COMPONENTS Interpreter)
if(EBB_BUILD_TESTS)
  find_package(doctest REQUIRED)
endif()
if(EBB_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()

# gzip, xz and zstd: io/CMakeLists.txt finds zlib, liblzma and libzstd. Boost is used header-only.

# LEMON: only headers and its network simplex are used. Link ebb::lemon PRIVATE to one translation unit in C++17.
find_path(EBB_LEMON_INCLUDE lemon/network_simplex.h REQUIRED)
find_library(EBB_LEMON_LIBRARY NAMES emon lemon REQUIRED)
add_library(ebb_lemon INTERFACE)
add_library(ebb::lemon ALIAS ebb_lemon)
target_include_directories(ebb_lemon SYSTEM INTERFACE "${EBB_LEMON_INCLUDE}")
target_link_libraries(ebb_lemon INTERFACE "${EBB_LEMON_LIBRARY}")

# Clp: ebb::clp exists only when found; EBB_HAVE_CLP=1 comes with it.
set(EBB_HAVE_CLP OFF)
if(NOT EBB_WITH_CLP STREQUAL "OFF")
  find_path(EBB_CLP_INCLUDE ClpSimplex.hpp PATH_SUFFIXES coin coin-or)
  find_library(EBB_CLP_LIBRARY Clp)
  find_library(EBB_COINUTILS_LIBRARY CoinUtils)
  if(EBB_CLP_INCLUDE AND EBB_CLP_LIBRARY AND EBB_COINUTILS_LIBRARY)
    set(EBB_HAVE_CLP ON)
    add_library(ebb_clp INTERFACE)
    add_library(ebb::clp ALIAS ebb_clp)
    target_include_directories(ebb_clp SYSTEM INTERFACE "${EBB_CLP_INCLUDE}")
    target_link_libraries(ebb_clp INTERFACE "${EBB_CLP_LIBRARY}" "${EBB_COINUTILS_LIBRARY}")
    target_compile_definitions(ebb_clp INTERFACE EBB_HAVE_CLP=1)
  elseif(NOT EBB_WITH_CLP STREQUAL "AUTO")
    message(FATAL_ERROR "EBB_WITH_CLP=${EBB_WITH_CLP}, but Clp was not found (package coinor-libclp-dev)")
  endif()
endif()
message(STATUS "Linear programs (Clp): ${EBB_HAVE_CLP}")

# ONNX, for the command only (io/onnx): the targets ebb::onnx and ebb::onnx_proto exist only when found. The distribution's
# CMake files of libonnx want the target of the protobuf compiler; Debian 13's have a name space, Debian 12's have none.
set(EBB_HAVE_ONNX OFF CACHE INTERNAL "")
if(NOT EBB_WITH_ONNX STREQUAL "OFF")
  find_package(Protobuf QUIET)
  if(TARGET protobuf::libprotobuf AND TARGET protobuf::protoc)
    find_package(ONNX QUIET)
  endif()
  foreach(prefix "ONNX::" "")
    if(ONNX_FOUND AND NOT TARGET ebb::onnx AND TARGET ${prefix}onnx AND TARGET ${prefix}onnx_proto)
      add_library(ebb::onnx ALIAS ${prefix}onnx)
      add_library(ebb::onnx_proto ALIAS ${prefix}onnx_proto)
    endif()
  endforeach()
  if(TARGET ebb::onnx)
    set(EBB_HAVE_ONNX ON CACHE INTERNAL "")
  elseif(NOT EBB_WITH_ONNX STREQUAL "AUTO")
    message(FATAL_ERROR "EBB_WITH_ONNX=${EBB_WITH_ONNX}, but libonnx was not found (packages libonnx-dev, libprotobuf-dev, "
      "protobuf-compiler)")
  endif()
endif()
message(STATUS "ONNX models: ${EBB_HAVE_ONNX}")

include(EbbCadical) # ebb::cadical
