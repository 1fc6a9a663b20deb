import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'
import { BUNDLES, SOURCES, stampOf } from '../../bin/bundle.js'

/** What is started: by the launcher, by a process of ours, as a thread of one. */
const ENTRIES = [
  'packages/cli/src/main.ts',
  'packages/cli/src/gateway-process/gateway-main.ts',
  'packages/cli/src/host-process/host-main.ts',
  'packages/cli/src/judge-process/judge-main.ts',
  'packages/executor/src/local/spawner-main.ts',
  'packages/judge/src/check/compare-main.ts',
  'packages/mini/src/tool/search/search-main.ts',
]
/** Packages that others take if somebody has installed them; nobody has. */
const ABSENT = ['bufferutil', 'utf-8-validate', 'pg-native']
/** Beside the modules themselves: what decides which file an import means, what was installed, and how all is joined. */
const DECIDING = ['package-lock.json', 'node_modules/.package-lock.json', 'packages/*/package.json', 'scripts/bundle/*.ts']

const STARTED = /new URL\('([^']*-main\.ts)', import\.meta\.url\)/g
const PLACE = /import\.meta\.(url|dirname|filename)\b/g

/** Which modules are in which file, for whoever looks for what is loaded when. */
const PARTS = 'parts.json'
/** Whoever runs one that was replaced may still load parts of it. */
const KEPT = 3

/** Built aside, moved into place and named at last: a bundle is whole or absent, also when the build is killed. */
export async function buildBundle(root: string, entries: readonly string[] = ENTRIES): Promise<void> {
  // Taken as each is read: what is edited meanwhile has another time then.
  const read = new Map<string, string>()
  const stamp = (path: string): void => void read.set(path, stampOf(root, path))
  const aside = join(root, '.cache', `bundle-${process.pid}`)
  for (const path of globSync(DECIDING, { cwd: root })) stamp(path)
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map((path) => [basename(path, '.ts'), join(root, path)])),
    platform: 'node',
    external: [/^node:/, ...ABSENT],
    plugins: [
      { name: 'stamps', load: { filter: { id: /\/packages\// }, handler: (id) => stamp(relative(root, id)) } },
      placesOf(entries.map((path) => join(root, path))),
    ],
    logLevel: 'warn',
  })
  const { output } = await bundle.write({ dir: aside, chunkFileNames: 'part-[hash].js' })
  await bundle.close()
  const parts = output.flatMap((file) =>
    file.type === 'chunk' ? [[file.fileName, file.moduleIds.map((id) => relative(root, id))]] : [],
  )
  writeFileSync(join(aside, PARTS), JSON.stringify(Object.fromEntries(parts)))
  place(root, aside, Object.fromEntries([...read].toSorted(([one], [other]) => (one < other ? -1 : 1))))
}

function place(root: string, aside: string, files: Readonly<Record<string, string>>): void {
  const folder = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16)
  const bundles = join(root, BUNDLES)
  mkdirSync(bundles, { recursive: true })
  rmSync(join(bundles, folder), { recursive: true, force: true })
  renameSync(aside, join(bundles, folder))
  writeFileSync(join(bundles, `${SOURCES}.new`), JSON.stringify({ root, folder, files }))
  renameSync(join(bundles, `${SOURCES}.new`), join(bundles, SOURCES))
  const built = readdirSync(bundles, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const byAge = built
    .map(({ name }) => join(bundles, name))
    .toSorted((one, other) => statSync(other).ctimeMs - statSync(one).ctimeMs)
  for (const old of byAge.slice(KEPT)) rmSync(old, { recursive: true, force: true })
}

/** A module finds its files from where it lies, and the programs that it starts in the bundle. */
function placesOf(entries: readonly string[]): Plugin {
  return {
    name: 'places',
    transform: {
      filter: { id: /\.ts$/, code: PLACE },
      handler: (code, id) =>
        code
          .replaceAll(STARTED, (_, path: string) => {
            const entry = resolve(dirname(id), path)
            if (!entries.includes(entry)) throw new Error(`${id} starts ${entry}, which is no entry of the bundle`)
            return `new URL('${basename(entry, '.ts')}.js', import.meta.here)`
          })
          .replaceAll(PLACE, (_, part: string) => JSON.stringify(placeOf(id, part)))
          .replaceAll('import.meta.here', 'import.meta.url'),
    },
  }
}

function placeOf(id: string, part: string): string {
  if (part === 'url') return pathToFileURL(id).href
  return part === 'dirname' ? dirname(id) : id
}
