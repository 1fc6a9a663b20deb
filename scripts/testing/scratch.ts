import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A folder of its own for one test, gone with the scope that opened it. */
export interface Scratch extends Disposable {
  readonly root: string
  write(path: string, text: string | object): void
}

export function openScratch(files: Readonly<Record<string, string | object>> = {}): Scratch {
  const root = mkdtempSync(join(tmpdir(), 'parley-scratch-'))
  const write = (path: string, text: string | object): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), typeof text === 'string' ? text : JSON.stringify(text))
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  return { root, write, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) }
}
