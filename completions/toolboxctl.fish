# SPDX-License-Identifier: Apache-2.0
# Completion of toolboxctl for fish. What fits is asked of `toolboxctl complete`.

complete -c toolboxctl -a '(toolboxctl complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
