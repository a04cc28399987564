# Compiler settings that every target shares: the interface target benchcnn_flags.
option(BENCHCNN_WERROR "treat warnings as errors (CI does)" OFF)
option(BENCHCNN_AVX512_BY_AVX2 "for tests: AVX-512's kernels as AVX2 code, for a processor that has no AVX-512; slow" OFF)
option(BENCHCNN_CHEATS "tests of plug-ins that must be caught: cheats, and mistakes of kernel authors" ON)
set(BENCHCNN_SANITIZE "" CACHE STRING "sanitizers, e.g. address,undefined or thread")

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
# The same objects make the program and the shared library of python/. In the program the linker turns their detours through
# tables back into direct calls and addresses.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_library(benchcnn_flags INTERFACE)
target_include_directories(benchcnn_flags INTERFACE ${PROJECT_SOURCE_DIR})
# POSIX names (clock_gettime, pthread, fsync); no fast-math anywhere; no contraction that the source does not ask for,
# so that a kernel's arithmetic is what its text says on every compiler. (On a GPU nvcc contracts: a fused multiply-add
# is what its peak is counted in, and rounds once instead of twice.)
target_compile_definitions(benchcnn_flags INTERFACE _GNU_SOURCE $<$<BOOL:${BENCHCNN_AVX512_BY_AVX2}>:BENCHCNN_AVX512_BY_AVX2>)
# Nothing replaces a function of another name at run time: calls within a file may be inlined.
set(BENCHCNN_COMPILE_OPTIONS -ffp-contract=off -fno-semantic-interposition)
set(BENCHCNN_WARNINGS -Wall -Wextra -Wshadow -Wcast-qual -Wpointer-arith)
# A sanitized program is built to be tested, once: at -O1 with the lines of its functions alone it compiles in less than half of the
# time that the build type's options take (kernels: in a fifth), and its reports name the same places.
if(BENCHCNN_SANITIZE)
  list(APPEND BENCHCNN_COMPILE_OPTIONS -O1 -g1 -fsanitize=${BENCHCNN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU") # at -O1 it knows less of what may happen, and warns of what the optimised build shows to be right
    list(APPEND BENCHCNN_COMPILE_OPTIONS -Wno-format-truncation -Wno-maybe-uninitialized)
  endif()
  target_link_options(benchcnn_flags INTERFACE -fsanitize=${BENCHCNN_SANITIZE})
endif()
# A sanitizer's notes on each place that it watches hold addresses, a million in all: where the program lies at a fixed one, no start
# fills them in, and the hundreds of starts in tests of the command line take a fifth less.
if(BENCHCNN_SANITIZE MATCHES "address")
  target_link_options(benchcnn_flags INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()
# lld links a sanitized program in a third of the time that ld takes, a mutant in half of it.
include(CheckLinkerFlag)
check_linker_flag(C -fuse-ld=lld BENCHCNN_LLD)
if(BENCHCNN_SANITIZE AND BENCHCNN_LLD)
  target_link_options(benchcnn_flags INTERFACE -fuse-ld=lld)
endif()
list(JOIN BENCHCNN_COMPILE_OPTIONS "," for_nvcc)
list(JOIN BENCHCNN_WARNINGS "," warnings_for_nvcc)
# -Wpedantic would complain of what nvcc itself generates, -Wconversion of CUDA's headers; unused kernels and pragmas
# for nvcc's eyes are no mistake in an emulated build.
target_compile_options(benchcnn_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:${BENCHCNN_COMPILE_OPTIONS};${BENCHCNN_WARNINGS};-Wpedantic;-Wconversion;-Wno-sign-conversion;-Wvla>
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes>
  $<$<COMPILE_LANGUAGE:CXX>:-Wno-unknown-pragmas>
  $<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<BOOL:${BENCHCNN_WERROR}>>:-Werror>
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${for_nvcc},${warnings_for_nvcc}>"
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${BENCHCNN_WERROR}>>:-Werror=all-warnings>)
# A null pointer, one that left its object, one that wrapped around: the address sanitizer sees each when it is used. UBSan's checks of
# them at every place of a kernel take half of the time in which kernels compile.
if(BENCHCNN_SANITIZE MATCHES "address")
  target_compile_options(benchcnn_flags INTERFACE
    $<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<BOOL:$<TARGET_PROPERTY:BENCHCNN_KERNELS>>>:-fno-sanitize=null,object-size,pointer-overflow>)
endif()
find_package(Threads REQUIRED)
target_link_libraries(benchcnn_flags INTERFACE Threads::Threads m)
