import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { SetupError, run, say } from './run.js'

/** What cannot be done without all of its programs. The others work without one or the other, and are only told. */
const TESTED = ['test', 'verify']
const MEASURED = ['soak', 'bench']

/** Programs that no npm package carries: who needs them, how to know them, what they are called where. */
const NEEDS = [
  {
    what: 'PostgreSQL (initdb, postgres)',
    for: [...TESTED, ...MEASURED],
    apt: 'postgresql',
    brew: 'postgresql',
    present: hasPostgres,
  },
  { what: 'Chromium', for: TESTED, apt: 'chromium', brew: '--cask chromium', present: hasChromium },
  { what: 'OpenSSL', for: TESTED, apt: 'openssl', brew: 'openssl', present: () => onPath('openssl') },
  {
    what: 'a C and C++ compiler (g++)',
    for: ['start', ...TESTED, ...MEASURED],
    apt: 'g++',
    brew: 'gcc',
    present: () => onPath('cc') && onPath('g++'),
  },
  { what: 'Python 3', for: [...TESTED, ...MEASURED], apt: 'python3', brew: 'python3', present: () => onPath('python3') },
  {
    what: 'bubblewrap',
    for: [...TESTED, ...MEASURED],
    apt: 'bubblewrap',
    brew: 'bubblewrap',
    present: () => onPath('bwrap'),
  },
  // Boots a kernel with cgroup 2, whatever this machine has. There is none for other systems than Linux.
  {
    what: 'User-mode Linux',
    for: process.platform === 'linux' && process.arch === 'x64' ? TESTED : [],
    apt: 'user-mode-linux',
    brew: '',
    present: () => onPath('linux.uml'),
  },
  // Emulates a processor, so that cgroup 2 is tried whatever this machine's can do.
  {
    what: 'QEMU',
    for: process.platform === 'linux' && process.arch === 'x64' ? ['verify'] : [],
    apt: 'qemu-system-x86',
    brew: '',
    present: () => onPath('qemu-system-x86_64'),
  },
  { what: 'git', for: TESTED, apt: 'git', brew: 'git', present: () => onPath('git') },
  { what: 'wrk', for: ['bench'], apt: 'wrk', brew: 'wrk', present: () => onPath('wrk') },
  { what: 'taskset', for: ['bench'], apt: 'util-linux', brew: 'util-linux', present: () => onPath('taskset') },
]

/** What `PARLEY_SETUP` may say. */
const WISHES = ['install', 'skip']

/**
 * Names what is missing and how to get it, and installs it where that is possible. What cannot be had ends a command that would
 * fail later anyway, unless `PARLEY_SETUP=skip`. A start goes on without, and installs only with `PARLEY_SETUP=install`.
 */
export function ensureSystemPackages(purpose) {
  const wish = process.env.PARLEY_SETUP || undefined
  if (wish !== undefined && !WISHES.includes(wish))
    throw new SetupError(`PARLEY_SETUP is ${wish}; it may be ${WISHES.join(' or ')}`)
  const missing = missingFor(purpose)
  if (missing.length === 0) return
  const needed = TESTED.includes(purpose) || MEASURED.includes(purpose)
  if (wish !== 'skip' && (needed || wish === 'install') && canInstall()) return install(purpose, missing)
  const words = `missing: ${namesOf(missing)}. To install: ${command(missing)}`
  if (!needed || wish === 'skip') say(words)
  else throw new SetupError(`${words}\nsetup: PARLEY_SETUP=skip goes on without; what needs it will fail`)
}

function missingFor(purpose) {
  return NEEDS.filter((need) => need.for.includes(purpose) && !need.present())
}

function namesOf(needs) {
  return needs.map((need) => need.what).join(', ')
}

function install(purpose, missing) {
  say(`installing ${namesOf(missing)}`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  run('apt-get', [...QUIET, 'update'], { env })
  run('apt-get', [...QUIET, 'install', '-y', '--no-install-recommends', ...packagesOf(missing)], { env })
  const left = missingFor(purpose)
  if (left.length > 0)
    throw new SetupError(`${namesOf(left)} is missing still, though ${packagesOf(left).join(', ')} was installed`)
}

function packagesOf(needs) {
  return needs.map((need) => need.apt)
}

/** Waits for another apt instead of failing beside it. */
const QUIET = ['-qq', '-o', 'DPkg::Lock::Timeout=300']

function command(missing) {
  if (process.platform === 'darwin') return missing.map((need) => `brew install ${need.brew}`).join(' && ')
  const sudo = isRoot() ? '' : 'sudo '
  return `${sudo}apt-get install ${packagesOf(missing).join(' ')}   (or what your system calls them)`
}

function canInstall() {
  return isRoot() && existsSync('/etc/debian_version') && onPath('apt-get')
}

function isRoot() {
  return process.getuid?.() === 0
}

function hasPostgres() {
  if (onPath('initdb') && onPath('postgres')) return true
  const versions = '/usr/lib/postgresql'
  if (!existsSync(versions)) return false
  return readdirSync(versions).some((version) =>
    ['initdb', 'postgres'].every((name) => isProgram(join(versions, version, 'bin', name))),
  )
}

function hasChromium() {
  return ['chromium', 'chromium-browser', 'google-chrome'].some(onPath)
}

function onPath(name) {
  const endings = process.platform === 'win32' ? ['.exe', '.cmd'] : ['']
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.some((folder) => endings.some((ending) => isProgram(join(folder, name + ending))))
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
