# Implementations from outside the tree, built with the program's own sanitizers. Not under tsan: it ends children that were
# forked and then start threads.
if(NOT BENCHCNN_SANITIZE MATCHES "thread")
  add_test(NAME cli_plugin COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_plugin.sh $<TARGET_FILE:benchcnn> ${PROJECT_BINARY_DIR}
    ${CMAKE_C_COMPILER} ${BENCHCNN_SANITIZE})
  add_test(NAME cli_last_word COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_last_word.sh $<TARGET_FILE:benchcnn> ${CMAKE_C_COMPILER}
    ${BENCHCNN_SANITIZE})
  add_test(NAME cli_hostile_answers COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_hostile_answers.sh $<TARGET_FILE:benchcnn>
    ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER} ${BENCHCNN_SANITIZE})
  set_tests_properties(cli_plugin cli_last_word cli_hostile_answers PROPERTIES WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} TIMEOUT 600)
endif()
