# Data sets, networks, the trainer.
benchcnn_unit_test(test_data benchcnn_data ZLIB::ZLIB)
benchcnn_unit_test(test_data_synthetic benchcnn_data)
benchcnn_unit_test(test_data_fetch benchcnn_data)
benchcnn_unit_test(test_npy benchcnn_data)
benchcnn_unit_test(test_net benchcnn_net)
benchcnn_unit_test(test_net_gradients benchcnn_net)
benchcnn_unit_test(test_net_train benchcnn_net)
benchcnn_unit_test(test_net_no_alloc benchcnn_net)
set_tests_properties(test_net test_net_no_alloc PROPERTIES WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
benchcnn_unit_test(test_train_device benchcnn_net)
set_tests_properties(test_train_device PROPERTIES SKIP_RETURN_CODE 77)

# Captured steps, uploads beside the stream and failing devices, without any device: the mock wraps impl_cpu, and stands
# beside it in a registry of its own; benchcnn_mock is the program with that registry.
if(TARGET impl_cpu)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/mock/impls.inc CONTENT "CNN_IMPL(cpu)\nCNN_IMPL(mock)\n")
  add_library(mock_registry OBJECT mock_device.c mock_stream.c mock_laps.c mock_lanes.c mock_operations.c
    ${PROJECT_SOURCE_DIR}/harness/registry.c)
  target_include_directories(mock_registry PRIVATE ${PROJECT_BINARY_DIR}/generated/mock)
  target_link_libraries(mock_registry PUBLIC benchcnn_harness)
  benchcnn_unit_test(test_train_graph mock_registry benchcnn_net impl_cpu)
  benchcnn_unit_test(test_train_profile mock_registry benchcnn_net impl_cpu)

  get_target_property(cli_sources benchcnn SOURCES)
  list(TRANSFORM cli_sources PREPEND ${PROJECT_SOURCE_DIR}/harness/cli/)
  get_target_property(cli_libraries benchcnn LINK_LIBRARIES)
  add_executable(benchcnn_mock ${cli_sources})
  target_compile_definitions(benchcnn_mock PRIVATE BENCHCNN_VERSION="${PROJECT_VERSION}")
  target_link_libraries(benchcnn_mock PRIVATE mock_registry ${cli_libraries} impl_cpu)
  add_test(NAME test_sweep_device COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_sweep_device.sh $<TARGET_FILE:benchcnn_mock>)
  add_test(NAME test_train_cli COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_train_cli.sh $<TARGET_FILE:benchcnn_mock>)
endif()
