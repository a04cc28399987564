# The program itself: bad input, records under kills and full disks.
add_test(NAME cli_bad_input COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_bad_input.sh $<TARGET_FILE:benchcnn>)
add_test(NAME cli_interrupts COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_interrupts.sh $<TARGET_FILE:benchcnn>)
add_test(NAME cli_resume COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_resume.sh $<TARGET_FILE:benchcnn>)
add_test(NAME cli_recipe COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_recipe.sh $<TARGET_FILE:benchcnn>)
add_test(NAME cli_checkpoint COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_checkpoint.sh $<TARGET_FILE:benchcnn>)
add_test(NAME cli_sweep COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_sweep.sh $<TARGET_FILE:benchcnn>)
add_test(NAME cli_tune COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_tune.sh $<TARGET_FILE:benchcnn>)
set_tests_properties(cli_tune cli_checkpoint cli_bad_input cli_interrupts cli_resume cli_recipe cli_sweep PROPERTIES WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
