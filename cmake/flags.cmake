# Compiler and linker flags as targets; nothing here is global.
#
#   toolbox_flags     what every source of ours is compiled with
#   toolbox_hardening release hardening, on top, for what is installed
#
# TOOLBOXD_SANITIZE holds the sanitizers of a preset ("address,undefined"); TOOLBOXD_WERROR makes
# warnings errors. Only presets set them.

set(TOOLBOXD_SANITIZE "" CACHE STRING "Sanitizers, comma separated")
option(TOOLBOXD_WERROR "Warnings are errors" OFF)
option(TOOLBOXD_COVERAGE "Instrument for gcov" OFF)
option(TOOLBOXD_HARDENING "Fortify, stack protector, PIE, full RELRO" OFF)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_library(toolbox_flags INTERFACE)
target_compile_definitions(toolbox_flags INTERFACE _GNU_SOURCE)
# Files of terabytes and times after 2038 have a size and a value on a machine of 32 bits, too. No library that is called
# here takes either type.
if(CMAKE_SIZEOF_VOID_P EQUAL 4)
	target_compile_definitions(toolbox_flags INTERFACE _FILE_OFFSET_BITS=64 _TIME_BITS=64)
endif()
target_include_directories(toolbox_flags INTERFACE ${PROJECT_SOURCE_DIR}/service)
target_compile_options(toolbox_flags INTERFACE
	-Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2
	-fvisibility=hidden -fno-strict-aliasing
	$<$<BOOL:${TOOLBOXD_WERROR}>:-Werror>)

if(TOOLBOXD_SANITIZE)
	target_compile_options(toolbox_flags INTERFACE
		-fsanitize=${TOOLBOXD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
	target_link_options(toolbox_flags INTERFACE -fsanitize=${TOOLBOXD_SANITIZE})
	# Tests start thousands of programs: without relocations of its tables of globals each starts in less time.
	if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND TOOLBOXD_SANITIZE MATCHES "address")
		target_link_options(toolbox_flags INTERFACE
			$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
	endif()
endif()
if(TOOLBOXD_FUZZ)
	# Without this the fuzzer cannot see which way the layers went.
	target_compile_options(toolbox_flags INTERFACE -fsanitize=fuzzer-no-link)
	target_link_options(toolbox_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(TOOLBOXD_COVERAGE)
	target_compile_options(toolbox_flags INTERFACE --coverage)
	target_link_options(toolbox_flags INTERFACE --coverage)
endif()
if(TOOLBOXD_HARDENING)
	target_compile_options(toolbox_flags INTERFACE
		-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection)
	target_link_options(toolbox_flags INTERFACE
		LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack LINKER:--as-needed)
	include(CheckPIESupported)
	check_pie_supported()
endif()
