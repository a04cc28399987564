# Data sets, networks, the trainer.
benchcnn_unit_test(test_data benchcnn_data ZLIB::ZLIB)
benchcnn_unit_test(test_data_fetch benchcnn_data)
benchcnn_unit_test(test_net benchcnn_net)
benchcnn_unit_test(test_net_gradients benchcnn_net)
benchcnn_unit_test(test_net_train benchcnn_net)
benchcnn_unit_test(test_net_no_alloc benchcnn_net)
set_tests_properties(test_net test_net_no_alloc PROPERTIES WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
