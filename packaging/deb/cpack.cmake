# SPDX-License-Identifier: Apache-2.0
#
# What `cpack -G DEB` makes of a build that was configured for /usr: sh packaging/deb/build.sh does both.
# One Debian package an install component (cmake/install.cmake).
find_program(TILEFOLD_DPKG dpkg)
find_program(TILEFOLD_GZIP gzip)
mark_as_advanced(TILEFOLD_DPKG TILEFOLD_GZIP)
if(NOT TILEFOLD_DPKG OR NOT TILEFOLD_GZIP)
  return()
endif()

set(TILEFOLD_DEB_MAINTAINER "The tilefold authors <no-address@tilefold.invalid>"
    CACHE STRING "Name and mail of the maintainer of the Debian packages (the default says that there is no address)")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tilefold)
set(CPACK_PACKAGE_CONTACT ${TILEFOLD_DEB_MAINTAINER})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_OUTPUT_FILE_PREFIX ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_COMPONENTS_ALL "")

# tilefold_deb(<component> <package> <section> <description>): a package of that component, and of what
# Debian wants beside it, which `cmake --install` leaves out.
macro(tilefold_deb component package section description)
  string(TOUPPER ${component} upper)
  set(notes ${PROJECT_BINARY_DIR}/deb/${package})
  set(deb_package ${package})
  configure_file(packaging/deb/changelog.in ${notes}/changelog.Debian @ONLY)
  execute_process(COMMAND ${TILEFOLD_GZIP} -9nf ${notes}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${notes}/changelog.Debian.gz packaging/deb/copyright
          DESTINATION share/doc/${package} COMPONENT ${component}_notes EXCLUDE_FROM_ALL)
  list(APPEND CPACK_COMPONENTS_ALL ${component} ${component}_notes)
  set(CPACK_COMPONENT_${upper}_GROUP deb_${component})
  set(CPACK_COMPONENT_${upper}_NOTES_GROUP deb_${component})
  set(CPACK_DEBIAN_DEB_${upper}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_DEB_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_DEB_${upper}_DESCRIPTION "${description}")
endmacro()

set(promise "For a given input and operator the result is bit-identical\non every GPU and CPU, with any number of threads.")
set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
tilefold_deb(
  dev libtilefold-dev libdevel
  "${promise}\nThis package has the headers for C++20 and CUDA, the host library\nand the files for CMake and pkg-config.")
set(CPACK_DEBIAN_DEB_DEV_PACKAGE_DEPENDS "libtbb-dev, libhwy-dev")
set(CPACK_DEBIAN_DEB_DEV_PACKAGE_SUGGESTS "nvidia-cuda-toolkit (>= 13), libopenmpi-dev, pkg-config")
if(TARGET tilefold_c)
  tilefold_deb(runtime libtilefold${soversion} libs
               "${promise}\nThis package has the shared library with the C interface.")
  # Debian's way is the trigger. CPack's own is scripts that call ldconfig, unless others are named; those
  # here do not exist, and what does not exist is left out.
  set(CPACK_DEBIAN_DEB_RUNTIME_PACKAGE_CONTROL_EXTRA
      ${PROJECT_SOURCE_DIR}/packaging/deb/triggers ${PROJECT_BINARY_DIR}/deb/none/postinst
      ${PROJECT_BINARY_DIR}/deb/none/postrm)
  string(APPEND CPACK_DEBIAN_DEB_DEV_PACKAGE_DEPENDS
         ", libtilefold${soversion} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
endif()
if(TARGET tilefold_tool)
  tilefold_deb(tool tilefold science
               "${promise}\nThis package has the command-line tool, which folds .npy and raw files.")
  configure_file(packaging/deb/tilefold.1 ${notes}/tilefold.1 COPYONLY)
  execute_process(COMMAND ${TILEFOLD_GZIP} -9nf ${notes}/tilefold.1 COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${notes}/tilefold.1.gz DESTINATION share/man/man1 COMPONENT tool_notes EXCLUDE_FROM_ALL)
endif()
include(CPack)
