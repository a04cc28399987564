# Fuzzing: random problems (verify --fuzz), and libFuzzer targets for everything that reads a file or a text.
target_sources(benchcnn_verify PRIVATE
  ${PROJECT_SOURCE_DIR}/verify/fuzz_shape.c ${PROJECT_SOURCE_DIR}/verify/fuzz_draw.c ${PROJECT_SOURCE_DIR}/verify/fuzz_tells.c
  ${PROJECT_SOURCE_DIR}/verify/fuzz_run.c ${PROJECT_SOURCE_DIR}/verify/fuzz_shrink.c
  ${PROJECT_SOURCE_DIR}/verify/fuzz_invalid.c
  ${PROJECT_SOURCE_DIR}/verify/reference_sums.c)

# libFuzzer is clang's: cmake --preset fuzz, then scripts/libfuzzer.sh. The whole tree is built with its counters.
option(BENCHCNN_LIBFUZZER "build the libFuzzer targets (clang only)" OFF)
if(BENCHCNN_LIBFUZZER)
  if(NOT CMAKE_C_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "libFuzzer needs clang, not ${CMAKE_C_COMPILER_ID}: cmake --preset fuzz, or -DCMAKE_C_COMPILER=clang")
  endif()
  add_custom_target(libfuzzer)
  foreach(target descriptor net idx npy record tuning)
    add_executable(fuzz_${target} ${PROJECT_SOURCE_DIR}/tests/libfuzzer/fuzz_${target}.c)
    target_link_libraries(fuzz_${target} PRIVATE benchcnn_verify)
    target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
    add_dependencies(libfuzzer fuzz_${target})
  endforeach()
endif()
