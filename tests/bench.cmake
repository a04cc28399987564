# Records, statistics, measurement, sweeps and plots.
benchcnn_unit_test(test_record benchcnn_harness)
benchcnn_unit_test(test_stats benchcnn_bench)
