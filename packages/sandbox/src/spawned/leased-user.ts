import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { SandboxUnavailable } from '../sandbox.ts'
import { CLOSE_OTHERS } from './closed-descriptors.ts'

/** The same folder, locks and numbers as in `cage/ground.c`: boxes of both drivers share them. */
const LEASE_FOLDER = '/run/parley'
const LEASES = 1024
const FIRST_UID = 1_795_162_112
const FIRST_UID_MAPPED = 62_000
const FLOCK = '/usr/bin/flock'
const SETPRIV = '/usr/bin/setpriv'
const INSTALL_HINT = 'install a C compiler, which the `cage` driver needs (on Debian: apt-get install gcc libc6-dev)'

/**
 * Takes the first lock that is free, says which, and holds it until its input ends, however its owner does. Whoever locks a file that
 * was unlinked meanwhile holds nothing. What still runs as the user goes before the lock does.
 */
const HOLDER = `${CLOSE_OTHERS}
umask 077
for ((slot = 0; slot < ${LEASES}; slot++)); do
  lock=${LEASE_FOLDER}/box-$slot.lock
  exec 9>>"$lock" || exit 1
  ${FLOCK} -n 9 && [ /proc/self/fd/9 -ef "$lock" ] || continue
  echo $$ >"$lock"
  echo "$slot"
  read -r end
  ${SETPRIV} --reuid $(($1 + slot)) --regid $(($1 + slot)) --clear-groups /bin/bash -c 'kill -KILL -1' 9>&-
  rm -f "$lock"
  exit 0
done
exit 75`

/** A user of this machine that nobody else has while it is held. */
export interface LeasedUser {
  readonly uid: number
  release(): Promise<void>
}

/** Words that start a program as a user, without any right or group of ours. */
export function asUser({ uid }: LeasedUser): readonly string[] {
  const words = ['--reuid', String(uid), '--regid', String(uid), '--clear-groups']
  return [SETPRIV, ...words, '--bounding-set=-all', '--inh-caps=-all', '--ambient-caps=-all', '--']
}

/** Only root can lend users. */
export async function leaseUser(): Promise<LeasedUser> {
  for (const path of [FLOCK, SETPRIV])
    if (!existsSync(path))
      throw new SandboxUnavailable(`${path} is not there, and nothing may run as root in bubblewrap`, INSTALL_HINT)
  checkFolder()
  const first = firstUid()
  const holder = spawn('/bin/bash', ['--noprofile', '--norc', '-c', HOLDER, 'bash', String(first)], {
    env: {},
    cwd: '/',
    stdio: ['pipe', 'pipe', 'ignore'],
    // A person's Ctrl-C is for us, who then let it go.
    detached: true,
  })
  const ended = once(holder, 'close')
  ended.catch(() => undefined)
  holder.stdin.on('error', () => undefined)
  const said = await Promise.race([once(holder.stdout, 'data').then(String), ended.then(() => '')])
  const slot = Number.parseInt(said, 10)
  if (Number.isNaN(slot))
    throw new SandboxUnavailable(`no free user is left in ${LEASE_FOLDER}`, 'end other judges, or start fewer')
  // Whoever forgets a box must not be kept alive by it.
  for (const part of [holder, holder.stdin, holder.stdout]) if ('unref' in part && typeof part.unref === 'function') part.unref()
  return {
    uid: first + slot,
    release: async () => {
      holder.ref()
      holder.stdin.end()
      await ended
    },
  }
}

function checkFolder(): void {
  mkdirSync(LEASE_FOLDER, { recursive: true, mode: 0o755 })
  const found = lstatSync(LEASE_FOLDER)
  if (found.isDirectory() && found.uid === 0 && (found.mode & 0o022) === 0) return
  throw new SandboxUnavailable(`${LEASE_FOLDER} is not root's own folder`, `remove it, or chmod 755 and chown root it`)
}

/** Far above what people and services are given, or inside of what a container maps. */
function firstUid(): number {
  const [inside = 0, , count = 0] = readFileSync('/proc/self/uid_map', 'latin1').trim().split(/\s+/).map(Number)
  return inside + count > FIRST_UID + LEASES ? FIRST_UID : FIRST_UID_MAPPED
}
