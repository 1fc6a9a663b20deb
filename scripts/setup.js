// Makes a clone ready to run. Plain JavaScript without dependencies, for Node 18 and up: it runs before anything is installed.
// Quiet and quick when there is nothing to do.
//
//   node scripts/setup.js [--for start|test|verify|check|soak|bench]
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { carriedRuntime, isNewEnough, missingRuntime } from '../bin/runtime.js'
import { ensureBundle } from './setup/bundle.js'
import { ensureInstalled } from './setup/install.js'
import { ensurePage } from './setup/page.js'
import { SetupError } from './setup/run.js'
import { ensureSystemPackages } from './setup/system.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const PURPOSES = ['start', 'test', 'verify', 'check', 'soak', 'bench']

/** Which purposes start the program, and serve or test its page. */
const NEED_BUILT = ['start', 'test', 'verify', 'soak', 'bench']

try {
  const purpose = purposeOf(process.argv.slice(2))
  await ensureInstalled(root)
  if (carriedRuntime(`${root}/package.json`) === undefined && !isNewEnough())
    throw new SetupError(missingRuntime(`run npm ci --include=optional in ${root}`))
  if (NEED_BUILT.includes(purpose)) {
    await ensurePage(root)
    await ensureBundle(root)
  }
  ensureSystemPackages(purpose)
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  process.stderr.write(`setup: ${error.message}\n`)
  process.exitCode = 1
}

function purposeOf(argv) {
  if (argv.length === 0) return 'start'
  const [flag, purpose, ...rest] = argv
  if (flag !== '--for' || rest.length > 0 || !PURPOSES.includes(purpose)) {
    throw new SetupError(`usage: node scripts/setup.js [--for ${PURPOSES.join('|')}]`)
  }
  return purpose
}
