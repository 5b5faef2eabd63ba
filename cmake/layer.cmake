# toolbox_layer(NAME SOURCES file… [LINK target…])
#
# One folder of service/ as a static library toolbox_NAME. LINK names what it needs; that only goes
# up the list in the top CMakeLists.txt, and tests/layers holds the includes to the same order.
function(toolbox_layer name)
	cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
	add_library(toolbox_${name} STATIC ${ARG_SOURCES})
	target_link_libraries(toolbox_${name} PUBLIC toolbox_flags ${ARG_LINK})
endfunction()
