# Fuzzing: random problems (verify --fuzz), and libFuzzer targets for everything that reads a file or a text.
target_sources(benchcnn_verify PRIVATE
  ${PROJECT_SOURCE_DIR}/verify/fuzz_shape.c ${PROJECT_SOURCE_DIR}/verify/fuzz_draw.c
  ${PROJECT_SOURCE_DIR}/verify/fuzz_run.c ${PROJECT_SOURCE_DIR}/verify/fuzz_shrink.c
  ${PROJECT_SOURCE_DIR}/verify/fuzz_invalid.c
  ${PROJECT_SOURCE_DIR}/verify/reference_sums.c)
