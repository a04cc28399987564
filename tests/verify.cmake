# The float64 reference, the judge, the checks against mutants, whole networks.
benchcnn_unit_test(test_verify_reference benchcnn_verify)
benchcnn_unit_test(test_verify_compare benchcnn_verify)
benchcnn_unit_test(test_verify_mutants benchcnn_verify)
benchcnn_unit_test(test_verify_network benchcnn_verify)
