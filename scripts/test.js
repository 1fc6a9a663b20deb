// npm test [-- PATH…]: the checks and every test, or only the tests whose path contains one of PATH.
// Plain JavaScript for any Node from 18 on: it finds the Node that came with the project and goes on there.
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findRuntime, missingRuntime } from '../bin/runtime.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const node = findRuntime(join(root, 'package.json'))
if (node === undefined) {
  process.stderr.write(`${missingRuntime(`run npm ci --include=optional in ${root}`)}\n`)
  process.exitCode = 1
} else {
  const { status } = spawnSync(node, [join(root, 'scripts/test/main.ts'), ...process.argv.slice(2)], {
    cwd: root,
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
}
