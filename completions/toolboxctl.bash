# SPDX-License-Identifier: Apache-2.0
# Completion of toolboxctl for bash, asked of `toolboxctl complete`; of the services, of their --help.

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
	# What is replaced is behind the last `=` or `:` of the word.
	word=${words[-1]}
	word=${word%"${word##*[=:]}"}
	COMPREPLY=("${COMPREPLY[@]#"$word"}")
	for i in "${!COMPREPLY[@]}"; do
		[[ ${COMPREPLY[i]} == *[!A-Za-z0-9_=:/.,@%+-]* ]] && printf -v "COMPREPLY[i]" %q "${COMPREPLY[i]}"
	done
	return 0
}

_toolboxd()
{
	mapfile -t COMPREPLY < <(compgen -W "$("$1" --help 2>/dev/null | grep -o '^  --[a-z-]*')" -- "$2")
}

complete -o bashdefault -o default -F _toolboxctl toolboxctl
complete -o bashdefault -o default -F _toolboxd toolboxd toolbox-agent
