import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { extname, join, resolve } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { type Plugin, defineConfig } from 'vite'

const TEXTS = new Set(['.html', '.js', '.css', '.json', '.map', '.svg', '.webmanifest', '.txt'])

/**
 * Writes `FILE.br` and `FILE.gz` beside every text of the page, as small as they get: once, when it is built. The gateway
 * serves them as they are and compresses nothing itself.
 */
function compressed(): Plugin {
  let folder = ''
  return {
    name: 'compressed',
    apply: 'build',
    configResolved: ({ root, build }) => {
      folder = resolve(root, build.outDir)
    },
    closeBundle: () => {
      for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !TEXTS.has(extname(entry.name))) continue
        const path = join(entry.parentPath, entry.name)
        const body = readFileSync(path)
        writeFileSync(`${path}.br`, brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: body.length } }))
        writeFileSync(`${path}.gz`, gzipSync(body, { level: constants.Z_BEST_COMPRESSION }))
      }
    },
  }
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [compressed()],
  build: {
    target: 'es2024',
    // Nothing inline: the page is served with a policy that forbids it.
    assetsInlineLimit: 0,
    modulePreload: false,
  },
})
