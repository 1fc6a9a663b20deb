import { execFile } from 'node:child_process'
import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { promisify } from 'node:util'
import { DEFAULT_ENVIRONMENT } from '../defaults.ts'
import { type BoxProfile, type RunRequest, type Sandbox, type SandboxOptions, SandboxUnavailable } from '../sandbox.ts'
import type { BoxFolder } from '../spawned/box-folder.ts'
import { limitsShell } from '../spawned/limits-shell.ts'
import { spawnedSandbox } from '../spawned/spawned-sandbox.ts'
import { isWithin } from '../workspace/real-path.ts'
import { SYSTEM_FOLDERS, type WorkspaceProfile, settleWorkspace } from '../workspace/settle-profile.ts'

const run = promisify(execFile)
const PLACES = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap']
const WORK_SETTINGS = ['/etc/ssl/certs', '/etc/ssl/openssl.cnf', '/etc/passwd', '/etc/group', '/etc/nsswitch.conf', '/etc/hosts']
const SETTINGS = ['/etc/ld.so.cache', '/etc/alternatives', '/etc/localtime']
const UNHELD = 'bubblewrap filters no system calls: programs could leave setuid files and reach sockets'
const PROBE_TIMEOUT_MS = 10_000

/** The sandbox of bubblewrap, for machines where our own helper cannot be compiled. */
export async function openBwrap(options: SandboxOptions): Promise<Sandbox> {
  const binary = PLACES.find((path) => existsSync(path))
  if (binary === undefined)
    throw new SandboxUnavailable('bubblewrap is not installed', 'install it (on Debian: apt-get install bubblewrap)')
  try {
    await run(binary, ['--unshare-all', '--die-with-parent', '--ro-bind', '/', '/', '/bin/true'], {
      env: {},
      timeout: PROBE_TIMEOUT_MS,
    })
  } catch (error) {
    throw new SandboxUnavailable('bubblewrap does not work here', 'run as root, or allow user namespaces', { cause: error })
  }
  const report = {
    driver: 'bwrap',
    tier: 'bwrap',
    enforced: {
      cpu: 'watched every 10 ms; resource limit behind it',
      wall: 'clock',
      memory: 'resident size, watched every 10 ms',
      processes: 'counted every 10 ms',
      output: 'exact count',
      files: 'private root, read-only; a box and /tmp of its own',
      network: 'a network namespace without any link',
      'other processes': 'only its own',
    },
    missing: [
      'peak memory is sampled, CPU time is the shell’s account: needs the `cage` driver (a C compiler)',
      'system calls are not filtered: needs the `cage` driver',
      'the size of the box is bounded per file only: needs the `cage` driver',
      'an exit code above 128 is taken for a signal',
      `engines run no commands here, since ${UNHELD}: needs the \`cage\` driver`,
    ],
  } as const
  const sandbox = await spawnedSandbox(report, options.runFolder, (request, folder, profile) => ({
    argv: [
      binary,
      ...isolation(folder, profile),
      ...view(request, profile),
      '--',
      ...limitsShell(request.limits),
      ...request.argv,
    ],
    cwd: '/',
    environment: { ...(request.environment ?? DEFAULT_ENVIRONMENT) },
  }))
  return {
    ...sandbox,
    unheldWorkspace: UNHELD,
    openBox: async (profile) => {
      if (profile.kind === 'workspace') checkProfile(profile)
      return sandbox.openBox(profile)
    },
  }
}

function checkProfile(profile: WorkspaceProfile): void {
  if (profile.writable || (profile.alsoWritable ?? []).length > 0) throw new SandboxUnavailable(UNHELD, 'install a C compiler')
  settleWorkspace(profile)
}

function isolation(folder: BoxFolder, profile: BoxProfile): string[] {
  const bound = ['--bind', folder.box, '/box', '--bind', folder.tmp, '/tmp', '--symlink', '/tmp', '/dev/shm']
  return [
    '--unshare-all',
    ...(profile.kind === 'workspace' && profile.network === 'host' ? ['--share-net'] : []),
    '--die-with-parent',
    '--new-session',
    '--hostname',
    'box',
    '--cap-drop',
    'ALL',
    '--proc',
    '/proc',
    ...devices(),
    ...bound,
  ]
}

function devices(): string[] {
  const nodes = ['/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom'].flatMap((path) => [
    '--dev-bind',
    path,
    path,
  ])
  const links = ['stdin', 'stdout', 'stderr'].flatMap((name, index) => ['--symlink', `/proc/self/fd/${index}`, `/dev/${name}`])
  return [...nodes, '--symlink', '/proc/self/fd', '/dev/fd', ...links]
}

function view(request: RunRequest, profile: BoxProfile): string[] {
  const system = [...SYSTEM_FOLDERS.flatMap(asItIs), ...SETTINGS.flatMap(asItIs)]
  const forRun = (request.readable ?? []).flatMap(shown)
  if (profile.kind === 'judge') return [...system, ...(profile.readable ?? []).flatMap(shown), ...forRun, '--chdir', '/box']
  const { folder, readable, hidden, links } = settleWorkspace(profile)
  // What lies deeper decides, and at one path what is hidden does.
  const places = [...[folder, ...readable].map((path) => ({ path, words: shown(path) })), ...hidden.map(covered)]
  const laid = places.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)).flatMap(({ words }) => words)
  const ways = [...links].filter(([link]) => !places.some(({ path }) => isWithin(link, path)))
  return [
    ...system,
    ...WORK_SETTINGS.flatMap(asItIs),
    ...laid,
    ...ways.flatMap(([link, target]) => ['--symlink', target, link]),
    ...forRun,
    '--chdir',
    folder,
  ]
}

const shown = (path: string): string[] => ['--ro-bind', path, path]
const covered = (path: string): { readonly path: string; readonly words: string[] } => ({
  path,
  words: lstatSync(path).isDirectory() ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path],
})

/** A link stays a link, anything else is bound read-only. */
function asItIs(path: string): string[] {
  if (!existsSync(path)) return []
  return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
}
