import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

/** What a file and all that it imports need at run time, from outside this package. */
async function outsideOf(file: URL, seen = new Set<string>()): Promise<Set<string>> {
  const outside = new Set<string>()
  if (seen.has(file.href)) return outside
  seen.add(file.href)
  const code = await readFile(file, 'utf8')
  if (/\b(?:Buffer|process|require)\b[.(]/.test(code)) outside.add(`a global of Node in ${file.pathname}`)
  for (const [, types, specifier] of code.matchAll(/^(?:import|export) (type )?[^'"]*?from '([^']+)'/gm)) {
    if (types !== undefined || specifier === undefined) continue
    if (!specifier.startsWith('.')) outside.add(specifier)
    else for (const found of await outsideOf(new URL(specifier, file), seen)) outside.add(found)
  }
  return outside
}

test('the browser entry needs nothing of Node, and no HTTP or WebSocket library', async () => {
  const found = await outsideOf(new URL('browser.ts', import.meta.url))
  expect(found).toEqual(new Set(['@parley/fetch/browser', '@parley/protocol', '@parley/protocol/wire']))
  expect(await outsideOf(new URL('../../fetch/src/browser.ts', import.meta.url))).toEqual(new Set())
})

test('the check sees what it must not let through', async () => {
  const found = [...(await outsideOf(new URL('client/link/web-socket-transport.ts', import.meta.url)))]
  expect(found).toContain('ws')
  expect(found.some((each) => each.startsWith('a global of Node'))).toBe(true)
})
