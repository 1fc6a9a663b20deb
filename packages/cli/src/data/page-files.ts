import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PageFile, PageFiles } from '@parley/gateway'

const PAGE_FOLDER = new URL('../../../web/dist/', import.meta.url)
/** The page is held in memory; one that does not fit in this is not ours. */
const PAGE_BYTES = 64 * 1024 * 1024

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}

/** The codings that the build wrote files in, and how those are named. */
const CODED = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

/** The built page, read once; `undefined` when it was not built. */
export function readPage(folder = fileURLToPath(PAGE_FOLDER)): PageFiles | undefined {
  const files = new Map<string, PageFile>()
  const paths = new Set(pathsBelow(folder))
  let bytes = 0
  const read = (path: string): Buffer => {
    const body = readFileSync(path)
    bytes += body.length
    if (bytes > PAGE_BYTES) throw new RangeError(`the page in ${folder} is larger than ${PAGE_BYTES} bytes`)
    return body
  }
  const isCoded = (path: string): boolean =>
    CODED.some(([, ending]) => path.endsWith(ending) && paths.has(path.slice(0, -ending.length)))
  for (const path of paths) {
    if (isCoded(path)) continue
    const body = read(path)
    const coded: { br?: Uint8Array; gzip?: Uint8Array } = {}
    for (const [coding, ending] of CODED) {
      const smaller = paths.has(path + ending) ? read(path + ending) : body
      if (smaller.length < body.length) coded[coding] = smaller
    }
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
    files.set(`/${relative(folder, path).split(sep).join('/')}`, {
      body,
      contentType: CONTENT_TYPES[extname(path)] ?? 'application/octet-stream',
      etag,
      coded,
    })
  }
  return files.has('/index.html') ? (path) => files.get(path) : undefined
}

/** How the page is built, for who sees this machine; only a clone can be without. */
export const PAGE_BUILDING = `npm run setup in ${fileURLToPath(new URL('../../../../', import.meta.url))} builds it`

/** What stands in the place of a page that was not built. Anybody may see it, so it names no folder. */
export function unbuiltPage(): PageFiles {
  const words = 'The page is not built. Run "npm run setup" in the clone of Parley, and start it again. MCP is served at /mcp.'
  const body = `<!doctype html><meta charset="utf-8"><title>Parley</title><p>${words}\n`
  const file: PageFile = { body, contentType: 'text/html; charset=utf-8', etag: '"unbuilt"' }
  return (path) => (path === '/index.html' ? file : undefined)
}

/** Whether there is a page, without reading it. */
export const isPageBuilt = (): boolean => existsSync(new URL('index.html', PAGE_FOLDER))

function pathsBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  } catch {
    return []
  }
}
