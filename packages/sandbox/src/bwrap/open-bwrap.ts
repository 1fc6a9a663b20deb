import { execFile } from 'node:child_process'
import { existsSync, lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { promisify } from 'node:util'
import { DEFAULT_ENVIRONMENT } from '../defaults.ts'
import { type BoxProfile, type RunRequest, type Sandbox, type SandboxOptions, SandboxUnavailable } from '../sandbox.ts'
import type { BoxFolder } from '../spawned/box-folder.ts'
import { limitsShell } from '../spawned/limits-shell.ts'
import { spawnedSandbox } from '../spawned/spawned-sandbox.ts'

const run = promisify(execFile)
const PLACES = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap']
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']
const SETTINGS = ['/etc/ld.so.cache', '/etc/alternatives', '/etc/localtime']
const LEFT_OUT = new Set(['proc', 'sys', 'dev', 'tmp', 'box', 'home', 'root', 'run', 'mnt', 'media', 'lost+found'])
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
    ],
  } as const
  return spawnedSandbox(report, options.runFolder, (request, folder, profile) => ({
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
  const readable = [...(profile.readable ?? []), ...(request.readable ?? [])].flatMap((path) => ['--ro-bind', path, path])
  if (profile.kind === 'judge') return [...SYSTEM.flatMap(asItIs), ...SETTINGS.flatMap(asItIs), ...readable, '--chdir', '/box']
  const top = readdirSync('/').filter((name) => !LEFT_OUT.has(name))
  const hidden = (profile.hidden ?? []).filter((path) => existsSync(path)).flatMap((path) => ['--tmpfs', path])
  const git = `${profile.folder}/.git`
  const sealed = profile.writable
    ? [git, `${git}/hooks`, `${git}/config`]
        .filter((path) => existsSync(path))
        .flatMap((path) => [path === git ? '--bind' : '--ro-bind', path, path])
    : []
  const work = [profile.writable ? '--bind' : '--ro-bind', profile.folder, profile.folder]
  return [...top.flatMap((name) => asItIs(`/${name}`)), ...hidden, ...readable, ...work, ...sealed, '--chdir', profile.folder]
}

/** A link stays a link, anything else is bound read-only. */
function asItIs(path: string): string[] {
  if (!existsSync(path)) return []
  return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
}
