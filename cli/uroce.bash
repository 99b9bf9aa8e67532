# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# bash completion for uroce(1)
_uroce()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i
	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		COMPREPLY=($(compgen -W "run link fault why record report stat cm res top metrics doctor ping trace dump cdi help" -- "$cur"))
		return
	fi
	for ((i = 2; i < COMP_CWORD; i++)); do
		if [ "${COMP_WORDS[1]}" = run ] && [ "${COMP_WORDS[i]}" = -- ]; then
			if declare -F _command_offset >/dev/null; then
				_command_offset $((i + 1))
			else
				COMPREPLY=($(compgen -c -- "$cur"))
			fi
			return
		fi
	done
	case $prev in
	--netdev | -n)
		COMPREPLY=($(compgen -W "$(ls /sys/class/net)" -- "$cur"))
		return
		;;
	--peer)
		COMPREPLY=($(compgen -A hostname -- "$cur"))
		return
		;;
	--qpn)
		COMPREPLY=($(compgen -W "$(uroce res qp 2>/dev/null |
			sed -n 's/.* qpn \([0-9]*\) .*/\1/p')" -- "$cur"))
		return
		;;
	--run-dir | -r)
		COMPREPLY=($(compgen -d -- "$cur"))
		return
		;;
	esac
	case ${COMP_WORDS[1]} in
	help) COMPREPLY=($(compgen -W "run link fault why stat cm res top metrics doctor ping trace dump cdi" -- "$cur")) ;;
	res) COMPREPLY=($(compgen -W "--json --run-dir show qp cq mr pd cm_id session" -- "$cur")) ;;
	doctor) COMPREPLY=($(compgen -c -W "--json --netdev --run-dir" -- "$cur")) ;;
	ping) COMPREPLY=($(compgen -A hostname -W "--json --count --run-dir --rc --listen" -- "$cur")) ;;
	trace) COMPREPLY=($(compgen -W "--json --netdev --count --peer --qpn" -- "$cur")) ;;
	dump) COMPREPLY=($(compgen -f -W "--netdev --count --peer --qpn" -- "$cur")) ;;
	cdi | cm) COMPREPLY=($(compgen -W "--json --run-dir" -- "$cur")) ;;
	top) COMPREPLY=($(compgen -W "--json --run-dir --interval --count" -- "$cur")) ;;
	run) COMPREPLY=($(compgen -W "--netdev --name --only --devices --fault --run-dir --check --check-json --check-mute --adverse= --mount --quiet --" -- "$cur")) ;;
	fault)
		COMPREPLY=($(compgen -W "--json --run-dir show add del all" -- "$cur"))
		;;
	record)
		case ${COMP_WORDS[2]} in
		save) COMPREPLY=($(compgen -f -- "$cur")) ;;
		*) COMPREPLY=($(compgen -f -W "--json --run-dir show start stop save" -- "$cur")) ;;
		esac
		;;
	report) COMPREPLY=($(compgen -f -W "--run-dir" -- "$cur")) ;;
	link)
		case ${COMP_WORDS[2]} in
		add) COMPREPLY=($(compgen -W "$(ls /sys/class/net)" -- "$cur")) ;;
		*) COMPREPLY=($(compgen -W "--json --run-dir show add del set $(uroce link 2>/dev/null |
			sed -n 's/^\([^ ]*\): netdev.*/\1/p')" -- "$cur")) ;;
		esac
		;;
	metrics | stat)
		COMPREPLY=($(compgen -W "--json --run-dir --interval --count qp $(uroce link 2>/dev/null |
			sed -n 's/^\([^ ]*\): netdev \([^ ]*\).*/\1 \2/p')" -- "$cur"))
		;;
	esac
}
complete -F _uroce uroce
