import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { withLock } from './lock.js'
import { SetupError, run, say } from './run.js'

const STAMP = 'node_modules/.parley-setup'

/** Installs from the lock file unless what is installed came from this very lock file. */
export async function ensureInstalled(root) {
  if (isCurrent(root)) return
  await withLock(join(root, '.cache/setup.lock'), () => {
    if (isCurrent(root)) return
    if (!matchesLock(root)) install(root)
    writeFileSync(join(root, STAMP), fingerprint(root))
  })
}

function isCurrent(root) {
  try {
    return readFileSync(join(root, STAMP), 'utf8') === fingerprint(root)
  } catch {
    return false
  }
}

/** The lock file and the platform: a folder copied from another machine holds the wrong binaries. */
function fingerprint(root) {
  const hash = createHash('sha256').update(readLock(root)).digest('hex')
  return `${hash} ${process.platform}-${process.arch}\n`
}

function readLock(root) {
  try {
    return readFileSync(join(root, 'package-lock.json'))
  } catch {
    throw new SetupError(`${join(root, 'package-lock.json')} is missing: this is not a whole copy of the project`)
  }
}

/**
 * True when somebody ran `npm ci` by hand: npm's own list of what it installed says the same as the lock file.
 * npm writes that list last, so an install that was cut short has none.
 */
function matchesLock(root) {
  const listPath = join(root, 'node_modules/.package-lock.json')
  if (!existsSync(listPath)) return false
  const installed = JSON.parse(readFileSync(listPath, 'utf8')).packages ?? {}
  const wanted = JSON.parse(readLock(root).toString('utf8')).packages ?? {}
  return Object.entries(wanted).every(([path, entry]) => {
    if (!path.startsWith('node_modules/')) return true
    const found = installed[path]
    if (found === undefined) return entry.optional === true || entry.devOptional === true
    if (entry.link === true) return existsSync(join(root, path))
    return found.version === entry.version && existsSync(join(root, path))
  })
}

function install(root) {
  say('installing dependencies from the lock file')
  // Windows cannot delete a running program, and `npm ci` deletes everything; `npm install` keeps what is right.
  const runsFromModules = process.execPath.startsWith(join(root, 'node_modules') + sep)
  const command = process.platform === 'win32' && runsFromModules ? 'install' : 'ci'
  const args = [command, '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--prefer-offline']
  const npm = process.env.npm_execpath
  // npm sets NODE_ENV and others for scripts; a nested npm must not take the outer command's flags for its own.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OUTER_FLAGS.has(name.toLowerCase())))
  const options = { cwd: root, env }
  if (npm !== undefined && npm.endsWith('.js')) run(process.env.npm_node_execpath ?? process.execPath, [npm, ...args], options)
  else run('npm', args, { ...options, shell: process.platform === 'win32' })
  if (!existsSync(join(root, 'node_modules'))) throw new SetupError('npm installed nothing')
}

const OUTER_FLAGS = new Set([
  'npm_config_omit',
  'npm_config_include',
  'npm_config_workspace',
  'npm_config_workspaces',
  'npm_command',
])
