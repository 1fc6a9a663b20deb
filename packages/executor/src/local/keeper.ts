import { type ChildProcess, spawn } from 'node:child_process'
import type { GroupLeader } from './process-group.ts'

/** One that is killed again and again is somebody's wish; the spawner then goes on without. */
const KEEPER_STARTS = 5
/** It has nothing to do but to read the end of its input and signal a few groups. */
const KEEPER_END_MS = 500

/**
 * Reads which groups there are until its input ends, which is when the spawner does, and then kills those that are left. A group whose
 * leader was born at another time is not ours; one whose leader is gone is, because its number stays taken while any member lives. The
 * name in a stat file is the leader's own choice and may hold line ends, spaces and parentheses: all lines are read, and the fields count
 * from the last parenthesis. It is a shell, because it is small and waits for all of its life.
 */
const SCRIPT = `
trap '' TERM INT HUP
groups=" $* "
while read -r sign pid born; do
  case $sign in
    +) groups="$groups$pid:$born ";;
    -) case $groups in *" $pid:"*) after=\${groups#* $pid:}; groups="\${groups%% $pid:*} \${after#* }";; esac;;
  esac
done
for group in $groups; do
  pid=\${group%%:*}
  stat=
  { while IFS= read -r line || [ -n "$line" ]; do stat="$stat $line"; done < "/proc/$pid/stat"; } 2>/dev/null
  set -- \${stat##*) }
  case "\${20}:\${group#*:}" in
    :* | *:unknown) ;;
    *) [ "\${20}" = "\${group#*:}" ] || continue;;
  esac
  kill -s KILL -- "-$pid" 2>/dev/null
done`

/** Ends the spawner's groups when the spawner is killed and its owner with it, so that nobody else is left to do it. */
export interface Keeper {
  add(leader: GroupLeader): void
  remove(leader: GroupLeader): void
  /** Ends it; settles when it is gone. */
  end(): Promise<void>
}

/** Starts a keeper and, when that is killed, another that is told the same. */
export function openKeeper(): Keeper {
  const groups = new Map<number, GroupLeader>()
  let keeper: ChildProcess | undefined
  let starts = 0
  let isEnding = false

  const start = (): void => {
    if (isEnding || starts === KEEPER_STARTS) return
    starts += 1
    // Those that there are are told with its start: the spawner may be killed right after it.
    const known = [...groups.values()].map(({ pid, bornAt }) => `${pid}:${bornAt ?? 'unknown'}`)
    // A session of its own, so that what is sent to the spawner's group does not end it too.
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'parley-keeper', ...known], {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: {},
      cwd: '/',
      detached: true,
    })
    keeper = child
    // Its end is what counts; without a shell there is no keeper.
    child.on('error', () => {})
    child.stdin?.on('error', () => {})
    child.once('exit', start)
  }
  const tell = (sign: '+' | '-', { pid, bornAt }: GroupLeader): void =>
    void keeper?.stdin?.write(`${sign} ${pid} ${bornAt ?? 'unknown'}\n`)

  start()
  return {
    add: (leader) => {
      groups.set(leader.pid, leader)
      tell('+', leader)
    },
    remove: (leader) => {
      groups.delete(leader.pid)
      tell('-', leader)
    },
    end: async () => {
      isEnding = true
      const child = keeper
      if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
      await new Promise<void>((resolve) => {
        child.once('exit', () => resolve())
        setTimeout(resolve, KEEPER_END_MS)
        child.stdin?.end()
      })
    },
  }
}
