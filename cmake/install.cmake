# cmake --install: the program with its manual page and the completion of shells, its networks, problem files, recipes and
# documents, and what a plug-in is built against: cnn.h with cnn/, a CMake package and a pkg-config file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(benchcnn_cnn INTERFACE)
set_target_properties(benchcnn_cnn PROPERTIES EXPORT_NAME cnn)
target_include_directories(benchcnn_cnn INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

install(TARGETS benchcnn RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES harness/cnn.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY harness/cnn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY bench/nets bench/problems bench/recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/benchcnn/bench)
install(PROGRAMS bench/fetch_data.sh DESTINATION ${CMAKE_INSTALL_DATADIR}/benchcnn/bench)
install(DIRECTORY plots report impl_template DESTINATION ${CMAKE_INSTALL_DATADIR}/benchcnn)
install(FILES README.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(FILES ${PROJECT_BINARY_DIR}/benchcnn.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES scripts/completion/benchcnn.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME benchcnn)
install(FILES scripts/completion/_benchcnn DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)

# The Python module where the distribution's Python looks: of /usr in a folder for all its versions, of /usr/local in its own.
# Elsewhere PYTHONPATH names the folder. -DBENCHCNN_PYTHON_DIR=... is another.
find_program(BENCHCNN_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(BENCHCNN_PYTHON NAMES python3)
mark_as_advanced(BENCHCNN_PYTHON)
set(BENCHCNN_PYTHON_DIR "" CACHE STRING "where the Python module is installed, below the prefix; empty: python3/dist-packages in lib")
set(python_dir ${BENCHCNN_PYTHON_DIR})
if(NOT python_dir)
  set(python_version 3)
  if(BENCHCNN_PYTHON AND CMAKE_INSTALL_PREFIX STREQUAL /usr/local)
    execute_process(COMMAND ${BENCHCNN_PYTHON} -c "import sys; print('%d.%d' % sys.version_info[:2])" OUTPUT_VARIABLE python_version
      OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  set(python_dir lib/python${python_version}/dist-packages)
endif()
install(TARGETS benchcnn_python LIBRARY DESTINATION ${python_dir}/benchcnn)
install(DIRECTORY ${PROJECT_BINARY_DIR}/python/benchcnn DESTINATION ${python_dir} FILES_MATCHING PATTERN *.py)

install(TARGETS benchcnn_cnn EXPORT benchcnn)
install(EXPORT benchcnn NAMESPACE benchcnn:: FILE benchcnn-config.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/benchcnn)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/benchcnn-config-version.cmake COMPATIBILITY SameMinorVersion
  ARCH_INDEPENDENT)
configure_file(cmake/benchcnn.pc.in benchcnn.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/benchcnn-config-version.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/benchcnn)
install(FILES ${PROJECT_BINARY_DIR}/benchcnn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
