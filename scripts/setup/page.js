import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findRuntime } from '../../bin/runtime.js'
import { withLock } from './lock.js'
import { run, say } from './run.js'

const IGNORED = /^(dist|node_modules|README\.md)$|\.test\.ts$/
const STAMP = '.stamp'

/** Builds the page when its sources are not the ones it was built from. */
export async function ensurePage(root) {
  if (!existsSync(join(root, 'packages/web/index.html'))) return
  const dist = join(root, 'packages/web/dist')
  const wanted = fingerprint(root)
  if (isCurrent(dist, wanted)) return
  await withLock(join(root, '.cache/page.lock'), () => {
    if (!isCurrent(dist, wanted)) build(root, dist, wanted)
  })
}

/** Built aside and moved into place with its stamp: a page is whole or absent, also when the build is killed. */
function build(root, dist, wanted) {
  say('building the page')
  const aside = join(root, '.cache', `page-${process.pid}`)
  mkdirSync(aside, { recursive: true })
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  const args = [vite, 'build', 'packages/web', '--outDir', aside, '--emptyOutDir', '--logLevel', 'warn']
  run(findRuntime(join(root, 'package.json')), args, { cwd: root })
  writeFileSync(join(aside, STAMP), wanted)
  rmSync(dist, { recursive: true, force: true })
  renameSync(aside, dist)
}

function isCurrent(dist, wanted) {
  try {
    return readFileSync(join(dist, STAMP), 'utf8') === wanted
  } catch {
    return false
  }
}

/** Everything that decides what the page looks like: its own files, the rooms it imports, the versions of what builds it. */
function fingerprint(root) {
  const { dependencies = {} } = JSON.parse(readFileSync(join(root, 'packages/web/package.json'), 'utf8'))
  const rooms = Object.keys(dependencies).filter((name) => name.startsWith('@parley/'))
  const sources = ['packages/web', 'package-lock.json', ...rooms.map((name) => `packages/${name.slice('@parley/'.length)}/src`)]
  const hash = createHash('sha256')
  for (const source of sources) addTo(hash, root, source)
  return hash.digest('hex')
}

function addTo(hash, root, path) {
  const full = join(root, path)
  const entries = path.endsWith('.json') ? undefined : readdirSync(full, { withFileTypes: true })
  if (entries === undefined) {
    hash.update(`${path}\n`).update(readFileSync(full))
    return
  }
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (IGNORED.test(entry.name)) continue
    const child = `${path}/${entry.name}`
    if (entry.isDirectory()) addTo(hash, root, child)
    else hash.update(`${child}\n`).update(readFileSync(join(root, child)))
  }
}
