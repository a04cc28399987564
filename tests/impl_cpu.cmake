# Tests of impl_cpu, through its cnn_impl only.
if(TARGET impl_cpu)
  foreach(test test_cpu_conv test_cpu_conv_tasks test_cpu_fc test_cpu_ops test_cpu_pool test_cpu_batchnorm
          test_shift)
    benchcnn_unit_test(${test} impl_cpu benchcnn_harness)
  endforeach()
endif()
