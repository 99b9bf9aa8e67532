# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# bash completion for rdma-check(1). Its options come from the program itself
# (`rdma-check --words`); here is only what a value can be.
_rdma_check()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i
	COMPREPLY=()
	case $prev in
	--json | --mute | -j | -m)
		COMPREPLY=($(compgen -f -- "$cur"))
		return
		;;
	esac
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--json | --mute | -j | -m) ((i++)) ;;
		--)
			((i++))
			break
			;;
		-*) ;;
		*) break ;;
		esac
	done
	if [ $i -lt $COMP_CWORD ] || [ "$prev" = -- ]; then
		if declare -F _command_offset >/dev/null; then
			_command_offset $i
		else
			COMPREPLY=($(compgen -c -- "$cur"))
		fi
		return
	fi
	COMPREPLY=($(compgen -W "$(${COMP_WORDS[0]} --words 2>/dev/null) --" -- "$cur"))
	[[ $cur == -* ]] || COMPREPLY+=($(compgen -c -- "$cur"))
}
complete -F _rdma_check rdma-check
