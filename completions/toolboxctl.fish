# SPDX-License-Identifier: Apache-2.0
# Completion of toolboxctl for fish, asked of `toolboxctl complete`; of the services, of their --help.

complete -c toolboxctl -a '(toolboxctl complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
for program in toolboxd toolbox-agent
	complete -c $program -a "($program --help | string match -r -- '^  (--[a-z-]+)' | string match -- '--*')"
end
