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
 *
 * A start of which it heard that it begins and not that it was done is one in which the spawner was killed: who it was is then found by
 * the sockets that the spawner made for its streams.
 */
const SCRIPT = `
trap '' TERM INT HUP
groups=' '
streams=' '
for known; do
  case $known in
    stream:*) streams="$streams\${known#*:} ";;
    *) groups="$groups$known ";;
  esac
done
while read -r sign pid born; do
  case $sign in
    +) groups="$groups$pid:$born ";;
    -) case $groups in *" $pid:"*) after=\${groups#* $pid:}; groups="\${groups%% $pid:*} \${after#* }";; esac;;
    begins) streams="$streams$pid ";;
    begun) case $streams in *" $pid "*) streams="\${streams%% $pid *} \${streams#* $pid }";; esac;;
  esac
done
fields() {
  stat=
  { while IFS= read -r line || [ -n "$line" ]; do stat="$stat $line"; done < "/proc/$1/stat"; } 2>/dev/null
}
[ "$streams" = ' ' ] || (cd /proc && /bin/ls -l [0-9]*/fd) 2>/dev/null | while read -r entry; do
  case $entry in
    [0-9]*/fd:) holder=\${entry%%/*};;
    *'-> socket:['*)
      inode=\${entry##*'['}
      case $streams in *" \${inode%']'} "*) ;; *) continue;; esac
      fields "$holder"
      set -- \${stat##*) }
      kill -s KILL -- "$holder" "-$3" 2>/dev/null;;
  esac
done
for group in $groups; do
  pid=\${group%%:*}
  fields "$pid"
  set -- \${stat##*) }
  case "\${20}:\${group#*:}" in
    :* | *:unknown) ;;
    *) [ "\${20}" = "\${group#*:}" ] || continue;;
  esac
  kill -s KILL -- "-$pid" 2>/dev/null
done`

/** Ends the spawner's groups when the spawner is killed and its owner with it, so that nobody else is left to do it. */
export interface Keeper {
  /** A child is about to be started with these streams, by their inodes: until `begun` it is nobody's yet and may be there already. */
  begins(streams: readonly string[]): void
  begun(streams: readonly string[]): void
  add(leader: GroupLeader): void
  remove(leader: GroupLeader): void
  /** Ends it; settles when it is gone. */
  end(): Promise<void>
}

/** Starts a keeper and, when that is killed, another that is told the same. */
export function openKeeper(): Keeper {
  const groups = new Map<number, GroupLeader>()
  const starting = new Set<string>()
  let keeper: ChildProcess | undefined
  let starts = 0
  let isEnding = false

  const start = (): void => {
    if (isEnding || starts === KEEPER_STARTS) return
    starts += 1
    // Those that there are are told with its start: the spawner may be killed right after it.
    const known = [
      ...[...groups.values()].map(({ pid, bornAt }) => `${pid}:${bornAt ?? 'unknown'}`),
      ...[...starting].map((stream) => `stream:${stream}`),
    ]
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
  const say = (line: string): void => void keeper?.stdin?.write(`${line}\n`)
  const tell = (sign: '+' | '-', { pid, bornAt }: GroupLeader): void => say(`${sign} ${pid} ${bornAt ?? 'unknown'}`)

  start()
  return {
    begins: (streams) => {
      for (const stream of streams) {
        starting.add(stream)
        say(`begins ${stream}`)
      }
    },
    begun: (streams) => {
      for (const stream of streams) if (starting.delete(stream)) say(`begun ${stream}`)
    },
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
