import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { expect, test } from 'vitest'

test('a browser gets our own files and the libraries that are meant, and nothing of Node', async () => {
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
  expect([...packages].toSorted()).toEqual([
    '@bufbuild/cel',
    '@bufbuild/cel-spec',
    '@bufbuild/protobuf',
    '@bufbuild/re2',
    '@noble/hashes',
    'own',
    're2js',
    'smol-toml',
    'zod',
  ])
})

function owner(id: string): string {
  const inModules = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1]
  if (inModules !== undefined) return inModules
  return /\/packages\/(?:policy|protocol)\/src\//.test(id) ? 'own' : id
}
