vcpkg_check_linkage(ONLY_STATIC_LIBRARY)

# No release has been tagged yet, so there is nothing to download: the source is a checkout. When there is a release,
# vcpkg_from_github() with its REPO, REF and SHA512 takes the place of this.
if(NOT DEFINED ENV{TILEFOLD_SOURCE})
    message(FATAL_ERROR "tilefold has no release to download: set TILEFOLD_SOURCE to a checkout of tilefold")
endif()
set(SOURCE_PATH "$ENV{TILEFOLD_SOURCE}")

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DFETCHCONTENT_TRY_FIND_PACKAGE_MODE=ALWAYS
        -DFETCHCONTENT_FULLY_DISCONNECTED=ON
        -DTILEFOLD_CUDA=OFF
        -DTILEFOLD_MPI=OFF
        -DTILEFOLD_C_LIBRARY=OFF
        -DTILEFOLD_TOOL=OFF
        -DTILEFOLD_TESTS=OFF
        -DTILEFOLD_BENCHMARKS=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/tilefold)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE
    "${CURRENT_PACKAGES_DIR}/debug/include"
    "${CURRENT_PACKAGES_DIR}/debug/share"
    "${CURRENT_PACKAGES_DIR}/share/doc"
)
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
