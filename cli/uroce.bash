# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# bash completion for uroce(1). Commands, their options and their words come from
# the program itself (`uroce help --words`); here is only what a value can be.
_uroce()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i
	local uroce=${COMP_WORDS[0]} command= words=
	COMPREPLY=()
	case $prev in
	--netdev | -n)
		COMPREPLY=($(compgen -W "$(ls /sys/class/net)" -- "$cur"))
		return
		;;
	--peer)
		COMPREPLY=($(compgen -A hostname -- "$cur"))
		return
		;;
	--like)
		COMPREPLY=($(compgen -W "cx7 bnxt irdma" -- "$cur"))
		return
		;;
	--qpn)
		COMPREPLY=($(compgen -W "$($uroce res qp 2>/dev/null |
			sed -n 's/.* qpn \([0-9]*\) .*/\1/p')" -- "$cur"))
		return
		;;
	--run-dir | -r)
		COMPREPLY=($(compgen -d -- "$cur"))
		return
		;;
	--check-json | --check-mute)
		COMPREPLY=($(compgen -f -- "$cur"))
		return
		;;
	esac
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-r | --run-dir) ((i++)) ;;
		-*) ;;
		*)
			command=${COMP_WORDS[i]}
			break
			;;
		esac
	done
	if [ -z "$command" ]; then
		COMPREPLY=($(compgen -W "$($uroce help --words 2>/dev/null) help --run-dir --json --version" -- "$cur"))
		return
	fi
	for ((i++; i < COMP_CWORD; i++)); do
		if [ "$command" = run ] && [ "${COMP_WORDS[i]}" = -- ]; then
			if declare -F _command_offset >/dev/null; then
				_command_offset $((i + 1))
			else
				COMPREPLY=($(compgen -c -- "$cur"))
			fi
			return
		fi
	done
	if [ "$command" = help ]; then
		COMPREPLY=($(compgen -W "$($uroce help --words 2>/dev/null)" -- "$cur"))
		return
	fi
	words=$($uroce help --words "$command" 2>/dev/null)
	case $command in
	run) words+=" --" ;;
	doctor) COMPREPLY=($(compgen -c -- "$cur")) ;;
	ping) COMPREPLY=($(compgen -A hostname -- "$cur")) ;;
	dump | report | record) COMPREPLY=($(compgen -f -- "$cur")) ;;
	link | stat | metrics)
		[ "$prev" = add ] && words+=" $(ls /sys/class/net)"
		words+=" $($uroce link 2>/dev/null |
			sed -n 's/^\([^ ]*\): netdev \([^ ]*\).*/\1 \2/p')"
		;;
	esac
	COMPREPLY+=($(compgen -W "$words" -- "$cur"))
}
complete -F _uroce uroce
