# toolbox_embed(TARGET SYMBOL FILE): the bytes of FILE as `const char SYMBOL[]`, NUL-terminated, in a
# source that is made at build time and compiled into TARGET.
function(toolbox_embed target symbol file)
	set(source ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
	add_custom_command(
		OUTPUT ${source}
		COMMAND ${CMAKE_COMMAND} -DSYMBOL=${symbol} -DIN=${file} -DOUT=${source}
			-P ${PROJECT_SOURCE_DIR}/cmake/embed-file.cmake
		DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/embed-file.cmake
		VERBATIM)
	target_sources(${target} PRIVATE ${source})
endfunction()
