# Compiler settings that every target shares: the interface target benchcnn_flags.
option(BENCHCNN_WERROR "treat warnings as errors (CI does)" OFF)
set(BENCHCNN_SANITIZE "" CACHE STRING "sanitizers, e.g. address,undefined or thread")

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

add_library(benchcnn_flags INTERFACE)
target_include_directories(benchcnn_flags INTERFACE ${PROJECT_SOURCE_DIR})
# POSIX names (clock_gettime, pthread, fsync); no fast-math anywhere; no contraction that the source does not ask for,
# so that a kernel's arithmetic is what its text says on every compiler.
target_compile_definitions(benchcnn_flags INTERFACE _GNU_SOURCE)
target_compile_options(benchcnn_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes -Wmissing-prototypes
  -Wcast-qual -Wpointer-arith -Wvla -ffp-contract=off $<$<BOOL:${BENCHCNN_WERROR}>:-Werror>)
if(BENCHCNN_SANITIZE)
  target_compile_options(benchcnn_flags INTERFACE -fsanitize=${BENCHCNN_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(benchcnn_flags INTERFACE -fsanitize=${BENCHCNN_SANITIZE})
endif()
find_package(Threads REQUIRED)
target_link_libraries(benchcnn_flags INTERFACE Threads::Threads m)
