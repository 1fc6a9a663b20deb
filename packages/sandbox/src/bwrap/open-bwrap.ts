import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { DEFAULT_ENVIRONMENT } from '../defaults.ts'
import { isMachineRoot } from '../machine-root.ts'
import {
  type BoxProfile,
  type RunRequest,
  type Sandbox,
  type SandboxOptions,
  type SandboxReport,
  SandboxUnavailable,
} from '../sandbox.ts'
import { asUser, leaseUser } from '../spawned/leased-user.ts'
import { limitsShell } from '../spawned/limits-shell.ts'
import { type BoxPlace, STARVED_PARTNER, type Wrap, spawnedSandbox } from '../spawned/spawned-sandbox.ts'
import { clockWords } from '../starved.ts'
import { checkBox } from './check-box.ts'
import { coveredProc } from './covered-proc.ts'
import { isWithin } from '../workspace/real-path.ts'
import { SYSTEM_FOLDERS, type WorkspaceProfile, settleWorkspace } from '../workspace/settle-profile.ts'

const PLACES = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap']
const WORK_SETTINGS = ['/etc/ssl/certs', '/etc/ssl/openssl.cnf', '/etc/passwd', '/etc/group', '/etc/nsswitch.conf', '/etc/hosts']
const SETTINGS = ['/etc/ld.so.cache', '/etc/alternatives', '/etc/localtime']
const UNHELD = 'bubblewrap filters no system calls: programs could leave setuid files and reach sockets'
/** Without a user namespace: root's own would have nobody else in it, and the kernel takes root for root in whatever namespace. */
const AS_ROOT = ['--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try']
const TO_CHANGE_USER = ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP']
/** Of words that put something somewhere, how many follow; the last is where. */
const PUTTING: Readonly<Record<string, number>> = { '--bind': 2, '--ro-bind': 2, '--dev-bind': 2, '--symlink': 2, '--tmpfs': 1 }

/** The sandbox of bubblewrap, for machines where our own helper cannot be compiled. As root, every box has a user of its own. */
export async function openBwrap(options: SandboxOptions): Promise<Sandbox> {
  const binary = PLACES.find((path) => existsSync(path))
  if (binary === undefined)
    throw new SandboxUnavailable('bubblewrap is not installed', 'install it (on Debian: apt-get install bubblewrap)')
  const asRoot = isMachineRoot()
  const covers = coveredProc()
  const wrap: Wrap = (request, place) => ({
    argv: [
      binary,
      ...withFolders([...isolation(place), ...covers, ...view(request, place.profile), '--remount-ro', '/']),
      '--',
      ...(place.user === undefined ? [] : asUser(place.user)),
      ...limitsShell(request.limits),
      ...request.argv,
    ],
    cwd: '/',
    environment: { ...(request.environment ?? DEFAULT_ENVIRONMENT) },
  })
  const report = reportOf(asRoot)
  const sandbox = await spawnedSandbox(report, options.runFolder, { wrap, ...(asRoot ? { lease: leaseUser } : {}) })
  await checkBox(sandbox)
  return {
    ...sandbox,
    unheldWorkspace: UNHELD,
    openBox: async (profile) => {
      if (profile.kind === 'workspace') checkProfile(profile)
      return sandbox.openBox(profile)
    },
  }
}

function reportOf(asRoot: boolean): SandboxReport {
  const clock = clockWords()
  return {
    driver: 'bwrap',
    tier: 'bwrap',
    enforced: {
      cpu: 'watched every 10 ms; resource limit behind it',
      wall: clock.wall,
      memory: 'resident size, watched every 10 ms',
      processes: 'counted every 10 ms',
      output: 'exact count',
      files: 'private root, read-only; a box and /tmp of its own',
      network: 'a network namespace without any link',
      rights: `${asRoot ? 'a user of its own, ' : ''}no capabilities, no new privileges`,
      'other processes': 'only its own',
      'facts of the machine': 'of /proc a list: processors, memory, load, version, settings to read',
    },
    missing: [
      ...clock.missing,
      'peak memory is sampled, CPU time is the shell’s account, which a program can forge: needs the `cage` driver (a C compiler)',
      'system calls are not filtered: needs the `cage` driver',
      'the size of the box is bounded per file only: needs the `cage` driver',
      'what sockets and pipes hold is counted by their number, and not while they are on their way between processes: 2 GiB were kept so below a limit of 64 MiB: needs the `cage` driver',
      'an exit code above 128 is taken for a signal',
      'where the box lies on this machine is told to the program (/proc/self/mountinfo), and with it the path of the data folder: needs the `cage` driver',
      STARVED_PARTNER,
      `engines run no commands here, since ${UNHELD}: needs the \`cage\` driver`,
    ],
  }
}

function checkProfile(profile: WorkspaceProfile): void {
  if (profile.writable || (profile.alsoWritable ?? []).length > 0) throw new SandboxUnavailable(UNHELD, 'install a C compiler')
  settleWorkspace(profile)
}

function isolation({ folder, profile, user }: BoxPlace): string[] {
  const bound = ['--bind', folder.box, '/box', '--bind', folder.tmp, '/tmp', '--symlink', '/tmp', '/dev/shm']
  return [
    ...(user === undefined ? ['--unshare-all'] : AS_ROOT),
    ...(profile.kind === 'workspace' && profile.network === 'host' ? ['--share-net'] : []),
    '--die-with-parent',
    '--new-session',
    '--hostname',
    'box',
    '--cap-drop',
    'ALL',
    ...(user === undefined ? [] : TO_CHANGE_USER.flatMap((right) => ['--cap-add', right])),
    '--proc',
    '/proc',
    // Settings of the whole machine are among what it shows.
    '--remount-ro',
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

/** Folders on the way would be root's alone, and a box's user could not walk down. */
function withFolders(words: readonly string[]): string[] {
  const made = new Set(['/'])
  const all: string[] = []
  const make = (folder: string): void => {
    if (made.has(folder) || SYSTEM_FOLDERS.some((system) => isWithin(folder, system))) return
    made.add(folder)
    make(dirname(folder))
    all.push('--dir', folder)
  }
  for (let at = 0; at < words.length;) {
    const count = PUTTING[words[at] ?? ''] ?? 0
    if (count > 0) make(dirname(words[at + count] ?? '/'))
    all.push(...words.slice(at, at + count + 1))
    at += count + 1
  }
  return all
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
