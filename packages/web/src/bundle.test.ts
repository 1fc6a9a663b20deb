import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { expect, test } from 'vitest'

test('the page is made of our own rooms and zod, and of nothing that belongs to Node', async () => {
  const owners = new Set<string>()
  await build({
    configFile: false,
    logLevel: 'silent',
    root: fileURLToPath(new URL('..', import.meta.url)),
    build: { write: false, target: 'es2024', modulePreload: false },
    plugins: [
      {
        name: 'list-owners',
        generateBundle() {
          for (const id of this.getModuleIds()) owners.add(ownerOf(id))
        },
      },
    ],
  })
  expect([...owners].toSorted()).toEqual(['client', 'fetch', 'protocol', 'rpc', 'web', 'zod'])
})

/** The package or room that a module came from. A module of Node would appear under its own name, as a stand-in of the bundler. */
function ownerOf(id: string): string {
  const inModules = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1]
  if (inModules !== undefined) return inModules
  return /\/packages\/([^/]+)\//.exec(id)?.[1] ?? id
}
