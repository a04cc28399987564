# What the CUDA implementations share: on a GPU, or emulated. Without a GPU these tests are skipped, visibly; with
# BENCHCNN_REQUIRE_GPU=1 in the environment they fail instead.
function(benchcnn_cuda_test name)
  add_executable(${name} ${name}.cu)
  benchcnn_cuda_sources(${name})
  target_link_libraries(${name} PRIVATE ${ARGN} benchcnn_cuda PkgConfig::CMOCKA)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

benchcnn_unit_test(test_winograd benchcnn_harness)
if(BENCHCNN_CUDA_MODE)
  benchcnn_cuda_test(test_cuda_launch)
  benchcnn_cuda_test(test_cuda_counters)
  benchcnn_cuda_test(test_cuda_shift)
  benchcnn_cuda_test(test_cuda_rank)
  benchcnn_cuda_test(test_cuda_peaks)
  benchcnn_cuda_test(test_cuda_pointwise)
  if(TARGET impl_cuda_naive)
    benchcnn_cuda_test(test_cuda_shape impl_cuda_naive)
  endif()
endif()
if(BENCHCNN_CUDA_MODE STREQUAL EMULATED)
  benchcnn_cuda_test(test_cuda_emulator)
  if(TARGET benchcnn_cuda_blas)
    benchcnn_cuda_test(test_cuda_devices benchcnn_cuda_blas)
  endif()
  add_test(NAME cli_emulated COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_emulated.sh $<TARGET_FILE:benchcnn>)
  add_test(NAME cli_emulated_faults
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_emulated_faults.sh $<TARGET_FILE:benchcnn>)
  add_test(NAME cli_cuda_knobs COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_cuda_knobs.sh $<TARGET_FILE:benchcnn>)
  set_tests_properties(cli_emulated cli_emulated_faults cli_cuda_knobs PROPERTIES SKIP_RETURN_CODE 77 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endif()

add_test(NAME cuda_toolkit COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_cuda_toolkit.sh ${PROJECT_SOURCE_DIR} ${CMAKE_COMMAND}
  ${CMAKE_C_COMPILER})

# Every operation of every CUDA implementation against the reference; then odd shapes in the other layout and dtype.
foreach(impl cuda_naive cuda_im2col cudnn)
  if(TARGET impl_${impl})
    add_test(NAME verify_${impl} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_verify_gpu.sh $<TARGET_FILE:benchcnn> ${impl}
      --op all)
    add_test(NAME verify_${impl}_odd COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_verify_gpu.sh $<TARGET_FILE:benchcnn>
      ${impl} --problems bench/problems/odd.txt --layout nhwc --dtype f64 --check exact,bound,memory)
    set_tests_properties(verify_${impl} verify_${impl}_odd PROPERTIES SKIP_RETURN_CODE 77
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} TIMEOUT 1500)
  endif()
endforeach()
