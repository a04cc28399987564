# The float64 reference, the judge, the checks against mutants, whole networks.
benchcnn_unit_test(test_verify_reference benchcnn_verify)
benchcnn_unit_test(test_verify_compare benchcnn_verify)
benchcnn_unit_test(test_verify_mutants benchcnn_verify)
benchcnn_unit_test(test_verify_network benchcnn_verify)
benchcnn_unit_test(test_verify_precision benchcnn_verify)
benchcnn_unit_test(test_verify_huge benchcnn_verify)
benchcnn_unit_test(test_verify_failure benchcnn_verify)
benchcnn_unit_test(test_verify_dump benchcnn_verify benchcnn_data)
target_sources(test_verify_dump PRIVATE
  ${PROJECT_SOURCE_DIR}/harness/cli/verify_dump.c ${PROJECT_SOURCE_DIR}/harness/cli/arrays_npy.c ${PROJECT_SOURCE_DIR}/harness/cli/files.c)
add_test(NAME cli_verify COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_verify_cli.sh $<TARGET_FILE:benchcnn>)
add_test(NAME cli_conv COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_conv_cli.sh $<TARGET_FILE:benchcnn>)
set_tests_properties(cli_verify cli_conv PROPERTIES WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
