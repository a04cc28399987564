benchcnn_unit_test(test_threads benchcnn_harness)
if(TARGET impl_cpu)
  benchcnn_unit_test(test_cpu_train impl_cpu benchcnn_harness)
endif()
