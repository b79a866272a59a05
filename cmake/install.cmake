# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` lays down: headers, the host library, the tool, and the packages for CMake and
# pkg-config. One export file a component, so that a consumer meets only the dependencies it asked for.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tilefold)

install(DIRECTORY include/tilefold DESTINATION include FILES_MATCHING PATTERN *.hpp PATTERN *.cuh
        PATTERN *.h)

set(components core strict_fp host)
if(TARGET tilefold_cuda)
  list(APPEND components cuda)
endif()
if(TARGET tilefold_mpi)
  list(APPEND components mpi)
endif()
if(TARGET tilefold_c)
  list(APPEND components c precompiled)
  install(TARGETS tilefold_c_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
foreach(component IN LISTS components)
  set_target_properties(tilefold_${component} PROPERTIES EXPORT_NAME ${component})
  install(TARGETS tilefold_${component} EXPORT tilefold_${component}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT tilefold_${component} NAMESPACE tilefold:: DESTINATION ${package_dir}
          FILE tilefold_${component}.cmake)
endforeach()
if(TARGET tilefold_tool)
  install(TARGETS tilefold_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

configure_package_config_file(cmake/tilefoldConfig.cmake.in tilefoldConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(tilefoldConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tilefoldConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/tilefoldConfigVersion.cmake cmake/cuda_standard.cmake
        DESTINATION ${package_dir})

set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pkgconfig_to_prefix /prefix/${pkgconfig_dir} /prefix)
configure_file(cmake/tilefold-host.pc.in tilefold-host.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tilefold-host.pc DESTINATION ${pkgconfig_dir})
if(TARGET tilefold_c)
  configure_file(cmake/tilefold.pc.in tilefold.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tilefold.pc DESTINATION ${pkgconfig_dir})
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
