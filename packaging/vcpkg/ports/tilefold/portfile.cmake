vcpkg_check_linkage(ONLY_STATIC_LIBRARY)

if(DEFINED ENV{TILEFOLD_SOURCE})
    # For trying the port before there is a release: a checkout of tilefold.
    set(SOURCE_PATH "$ENV{TILEFOLD_SOURCE}")
else()
    # No release has been tagged yet. Who tags one puts the repository's OWNER here, and the SHA512 that
    # vcpkg names when it has fetched the archive.
    vcpkg_from_github(
        OUT_SOURCE_PATH SOURCE_PATH
        REPO OWNER/tilefold
        REF "v${VERSION}"
        SHA512 0
        HEAD_REF main
    )
endif()

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
