# Implementations from outside the tree. Sanitised programs are left out: what a plug-in breaks would end them.
if(NOT BENCHCNN_SANITIZE)
  add_test(NAME cli_plugin COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_plugin.sh $<TARGET_FILE:benchcnn> ${PROJECT_BINARY_DIR}
    ${CMAKE_C_COMPILER})
  set_tests_properties(cli_plugin PROPERTIES WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} TIMEOUT 300)
endif()
