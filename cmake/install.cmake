# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` lays down: headers, the host library, the tool, and the packages for CMake and
# pkg-config. One export file a component, so that a consumer meets only the dependencies it asked for.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tilefold)
# The install components, for packages that are cut in parts: dev (what a build needs), runtime
# (libtilefold.so), tool, license.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)

# Headers alone are installed wherever they were built: find_package looks for what they link on the
# machine that uses them.
if(NOT TARGET tilefold_cuda)
  add_library(tilefold_cuda_elsewhere INTERFACE)
  target_link_libraries(tilefold_cuda_elsewhere INTERFACE ${tilefold_cuda_links})
endif()
if(NOT TARGET tilefold_mpi)
  add_library(tilefold_mpi_elsewhere INTERFACE)
  target_link_libraries(tilefold_mpi_elsewhere INTERFACE tilefold_core MPI::MPI_CXX)
endif()

install(DIRECTORY include/tilefold DESTINATION include FILES_MATCHING PATTERN *.hpp PATTERN *.cuh
        PATTERN *.h)
# Standard headers for NVRTC, which have no suffix.
install(DIRECTORY include/tilefold/nvrtc DESTINATION include/tilefold)

set(components core strict_fp host cuda mpi)
if(TARGET tilefold_c)
  list(APPEND components c precompiled)
  install(TARGETS tilefold_c_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
foreach(component IN LISTS components)
  set(target tilefold_${component})
  if(NOT TARGET ${target})
    set(target tilefold_${component}_elsewhere)
  endif()
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${component})
  install(TARGETS ${target} EXPORT tilefold_${component}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev)
  install(EXPORT tilefold_${component} NAMESPACE tilefold:: DESTINATION ${package_dir}
          FILE tilefold_${component}.cmake)
endforeach()
if(TARGET tilefold_tool)
  install(TARGETS tilefold_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
endif()
if(TARGET tilefold_tool_mpi)
  install(TARGETS tilefold_tool_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tilefold COMPONENT tool)
endif()

configure_package_config_file(cmake/tilefoldConfig.cmake.in tilefoldConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(tilefoldConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tilefoldConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/tilefoldConfigVersion.cmake cmake/cuda_standard.cmake
              cmake/find_nccl.cmake
        DESTINATION ${package_dir})

set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pkgconfig_to_prefix /prefix/${pkgconfig_dir} /prefix)
configure_file(cmake/tilefold-host.pc.in tilefold-host.pc @ONLY)
configure_file(cmake/tilefold-cuda.pc.in tilefold-cuda.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tilefold-host.pc
              ${CMAKE_CURRENT_BINARY_DIR}/tilefold-cuda.pc DESTINATION ${pkgconfig_dir})
if(TARGET tilefold_c)
  configure_file(cmake/tilefold.pc.in tilefold.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tilefold.pc DESTINATION ${pkgconfig_dir})
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT license)
