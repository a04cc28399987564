# Mutants: their lists, what becomes of their runs, and the kill matrix itself.
benchcnn_unit_test(test_mutants benchcnn_mutants)
if(TARGET impl_cpu)
  add_test(NAME cli_mutants COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_mutants.sh $<TARGET_FILE:benchcnn>)
endif()

# Built by a test of its own, since they are no part of the product. An emulated build (sanitised in CI) runs those of the
# GPU's kernels, others those of the CPU's; under the thread sanitizer none: every threaded one would take minutes.
if(TARGET mutants AND NOT BENCHCNN_SANITIZE MATCHES "thread")
  set(which cpu)
  if(BENCHCNN_CUDA_MODE STREQUAL EMULATED)
    set(which cuda_naive cuda_im2col)
  endif()
  list(TRANSFORM which PREPEND mutants. OUTPUT_VARIABLE targets)
  list(JOIN which "," which)
  add_test(NAME mutants_build COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target ${targets})
  add_test(NAME mutants COMMAND benchcnn verify --mutants --impl ${which} --quiet)
  set_tests_properties(mutants_build PROPERTIES FIXTURES_SETUP mutants TIMEOUT 1500 PROCESSORS 2)
  set_tests_properties(mutants PROPERTIES FIXTURES_REQUIRED mutants TIMEOUT 1500 PROCESSORS 2)
endif()
