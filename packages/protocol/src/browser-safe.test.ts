import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { expect, test } from 'vitest'

test('a browser gets our own files and zod, and nothing else', async () => {
  const packages = new Set<string>()
  await build({
    configFile: false,
    logLevel: 'silent',
    build: { write: false, lib: { entry: fileURLToPath(new URL('./index.ts', import.meta.url)), formats: ['es'] } },
    plugins: [
      {
        name: 'list-packages',
        generateBundle() {
          for (const id of this.getModuleIds()) packages.add(owner(id))
        },
      },
    ],
  })
  expect([...packages].toSorted()).toEqual(['own', 'zod'])
})

/** The package that a module came from. Node's own modules would appear as a stand-in of the bundler. */
function owner(id: string): string {
  const inModules = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1]
  if (inModules !== undefined) return inModules
  return id.includes('/packages/protocol/src/') ? 'own' : id
}
