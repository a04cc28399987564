# Records, statistics, measurement, sweeps and plots.
benchcnn_unit_test(test_record benchcnn_harness)
benchcnn_unit_test(test_stats benchcnn_bench)
benchcnn_unit_test(test_measure benchcnn_bench)
add_test(NAME cli_plot COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_plot.sh $<TARGET_FILE:benchcnn>)
set_tests_properties(cli_plot PROPERTIES SKIP_RETURN_CODE 77 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
