import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { run, say } from './run.js'

/** Programs that no npm package carries: who needs them, how to know them, what they are called where. */
const NEEDS = [
  { what: 'PostgreSQL (initdb, postgres)', for: ['test', 'bench'], apt: 'postgresql', brew: 'postgresql', present: hasPostgres },
  { what: 'Chromium', for: ['test'], apt: 'chromium', brew: '--cask chromium', present: hasChromium },
  { what: 'OpenSSL', for: ['test'], apt: 'openssl', brew: 'openssl', present: () => onPath('openssl') },
  {
    what: 'a C and C++ compiler (g++)',
    for: ['start', 'test', 'bench'],
    apt: 'g++',
    brew: 'gcc',
    present: () => onPath('cc') && onPath('g++'),
  },
  { what: 'Python 3', for: ['test'], apt: 'python3', brew: 'python3', present: () => onPath('python3') },
  { what: 'bubblewrap', for: ['test', 'bench'], apt: 'bubblewrap', brew: 'bubblewrap', present: () => onPath('bwrap') },
  // Boots a kernel with cgroup 2, whatever this machine has. There is none for other systems than Linux.
  {
    what: 'User-mode Linux',
    for: process.platform === 'linux' && process.arch === 'x64' ? ['test'] : [],
    apt: 'user-mode-linux',
    brew: '',
    present: () => onPath('linux.uml'),
  },
  { what: 'git', for: ['test'], apt: 'git', brew: 'git', present: () => onPath('git') },
  { what: 'wrk', for: ['bench'], apt: 'wrk', brew: 'wrk', present: () => onPath('wrk') },
]

/** Names what is missing and how to get it; installs it where that is wanted and possible. */
export function ensureSystemPackages(purpose) {
  const missing = NEEDS.filter((need) => need.for.includes(purpose) && !need.present())
  if (missing.length === 0) return
  const names = missing.map((need) => need.what).join(', ')
  const packages = missing.map((need) => need.apt)
  const wanted = purpose === 'test' || process.env.PARLEY_SETUP === 'install'
  if (wanted && canInstall()) {
    say(`installing ${names}`)
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    run('apt-get', [...QUIET, 'update'], { env })
    run('apt-get', [...QUIET, 'install', '-y', '--no-install-recommends', ...packages], { env })
    return
  }
  say(`missing: ${names}. To install: ${command(missing, packages)}`)
}

/** Waits for another apt instead of failing beside it. */
const QUIET = ['-qq', '-o', 'DPkg::Lock::Timeout=300']

function command(missing, packages) {
  if (process.platform === 'darwin') return missing.map((need) => `brew install ${need.brew}`).join(' && ')
  const sudo = isRoot() ? '' : 'sudo '
  return `${sudo}apt-get install ${packages.join(' ')}   (or what your system calls them)`
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
