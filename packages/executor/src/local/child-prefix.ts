import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const PROBE_MS = 2_000

/**
 * Where the system can do it, a child is killed with the spawner by the kernel itself: also one that was being started in the instant in
 * which owner and spawner were killed, of which the keeper had not heard yet.
 */
export function deathSignalPrefix(): readonly string[] {
  const setpriv = programAt('setpriv')
  if (setpriv === undefined) return []
  const wrapper = [setpriv, '--pdeathsig', 'KILL', '--']
  return works([...wrapper, setpriv, '--version']) ? wrapper : []
}

/**
 * Process 1 of the namespace. A program must not be it: signals that it does not catch would not end it. The kernel kills all that is left
 * inside when it ends; where the group may outlive its leader it waits for them first.
 */
const ENDS_WITH_LEADER = '"$@"'
const WAITS_FOR_ALL = '"$@"; code=$?; while kill -s 0 -- -1 2>/dev/null; do /bin/sleep 0.05; done; exit $code'

let namespace: readonly string[] | undefined

/** What puts a child into a PID namespace of its own; undefined where there is none for us. Found out once. */
export function containPrefix({ groupOutlivesLeader }: { readonly groupOutlivesLeader: boolean }): readonly string[] | undefined {
  namespace ??= findNamespace()
  if (namespace.length === 0) return undefined
  return [...namespace, '/bin/sh', '-c', groupOutlivesLeader ? WAITS_FOR_ALL : `${ENDS_WITH_LEADER}; exit $?`, 'parley-init']
}

/** Root needs nothing else; anybody else needs a user namespace around it, where they stay who they are. */
function findNamespace(): readonly string[] {
  const unshare = programAt('unshare')
  if (unshare === undefined) return []
  const own = [unshare, '--pid', '--fork', '--kill-child', '--']
  const asUser = [unshare, '--user', '--map-current-user', ...own.slice(1)]
  return [own, asUser].find((wrapper) => works([...wrapper, '/bin/sh', '-c', 'exit 0'])) ?? []
}

function programAt(name: string): string | undefined {
  return ['/usr/bin', '/bin'].map((folder) => `${folder}/${name}`).find((path) => existsSync(path))
}

function works([command = '', ...args]: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore', timeout: PROBE_MS }).status === 0
}
