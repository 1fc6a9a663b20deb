/** The standard streams and the account of a run: all that a program's shell is given. */
const LAST_GIVEN = 3

/**
 * Lines of a shell that close every descriptor but the first ones. Node marks its own so that no program inherits them, and of those that it
 * was started with only the first few: a lock that somebody's script holds as number 200 would be open in every box.
 */
export const CLOSE_OTHERS = `for open in /dev/fd/*; do
  number=\${open##*/}
  case $number in *[!0-9]*) echo 'open descriptors cannot be listed' >&2; exit 126;; esac
  [ "$number" -le ${LAST_GIVEN} ] || eval "exec $number>&-"
done`

/** Words that start a command with nothing open but what it is given. */
export const WITH_GIVEN_ALONE = ['/bin/bash', '--noprofile', '--norc', '-c', `${CLOSE_OTHERS}\nexec "$@"`, 'bash'] as const
