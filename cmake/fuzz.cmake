# Fuzzing: libFuzzer targets for everything that reads a file or a text.
# libFuzzer is clang's: cmake --preset fuzz, then scripts/libfuzzer.sh. The preset leaves out the implementations, which read no
# texts: two thirds of what there is to compile.
option(BENCHCNN_LIBFUZZER "build the libFuzzer targets (clang only)" OFF)
if(BENCHCNN_LIBFUZZER)
  if(NOT CMAKE_C_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "libFuzzer needs clang, not ${CMAKE_C_COMPILER_ID}: cmake --preset fuzz, or -DCMAKE_C_COMPILER=clang")
  endif()
  add_custom_target(libfuzzer)
  foreach(target descriptor net idx csv npy safetensors record tuning import)
    add_executable(fuzz_${target} ${PROJECT_SOURCE_DIR}/tests/libfuzzer/fuzz_${target}.c)
    target_link_libraries(fuzz_${target} PRIVATE benchcnn_verify)
    target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
    add_dependencies(libfuzzer fuzz_${target})
  endforeach()
  target_link_libraries(fuzz_import PRIVATE benchcnn_bench)
  target_sources(fuzz_descriptor PRIVATE ${PROJECT_SOURCE_DIR}/tests/verify/invalid_texts.c)
endif()
