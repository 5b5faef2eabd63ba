# SPDX-License-Identifier: Apache-2.0
# Completion of toolboxctl for bash. What fits is asked of `toolboxctl complete`.

_toolboxctl()
{
	local words=() joined=0 word i

	# COMP_WORDBREAKS has `=` and `:`: key=value arrives as three words.
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $word =~ ^[=:]+$ ]] && ((${#words[@]})); then
			words[-1]+=$word joined=1
		elif ((joined)); then
			words[-1]+=$word joined=0
		else
			words+=("$word")
		fi
	done
	mapfile -t COMPREPLY < <(toolboxctl complete -- "${words[@]}" 2>/dev/null)
	# A word that `=` ends, or a toolbox before its tool, is not at its end.
	[[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=/] ]] && compopt -o nospace
	return 0
}

complete -o bashdefault -o default -F _toolboxctl toolboxctl
