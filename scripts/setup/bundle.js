import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { currentBundle } from '../../bin/bundle.js'
import { findRuntime } from '../../bin/runtime.js'
import { withLock } from './lock.js'
import { run, say } from './run.js'

const BUILD = 'scripts/bundle/main.ts'

/** Puts the program into one piece, so that every start of it is quick. Without, it runs as it lies there. */
export async function ensureBundle(root) {
  if (!existsSync(join(root, BUILD)) || currentBundle(root) !== undefined) return
  await withLock(join(root, '.cache/bundle.lock'), () => {
    if (currentBundle(root) !== undefined) return
    say('building the program')
    run(findRuntime(join(root, 'package.json')), [join(root, BUILD)], { cwd: root })
  })
}
