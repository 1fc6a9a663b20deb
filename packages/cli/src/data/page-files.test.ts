import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { readPage, unbuiltPage } from './page-files.ts'

test('a file that was built in other codings has them, if they are smaller; by themselves they are not served', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-page-'))
  try {
    mkdirSync(join(folder, 'assets'))
    const files = { 'index.html': 'abcdef', 'index.html.br': 'abc', 'index.html.gz': 'abcdefgh', 'assets/a.js': 'x', 'b.gz': 'y' }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const page = readPage(folder)
    expect(page?.('/index.html')).toMatchObject({ body: Buffer.from('abcdef'), coded: { br: Buffer.from('abc') } })
    expect(page?.('/index.html')?.coded?.gzip).toBeUndefined()
    expect(page?.('/index.html.br')).toBeUndefined()
    expect([page?.('/assets/a.js')?.coded, page?.('/b.gz')?.body.toString()]).toEqual([{}, 'y'])
    rmSync(join(folder, 'index.html'))
    expect(readPage(folder)).toBeUndefined()
    expect(String(unbuiltPage()('/index.html')?.body)).toContain('Run "npm run setup" in the clone of Parley')
    expect(unbuiltPage()('/assets/a.js')).toBeUndefined()
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the page as it is built holds its texts in both codings, and they unpack to the same', () => {
  const page = readPage()
  const html = page?.('/index.html')
  const script = /src="([^"]+\.js)"/.exec(String(html?.body))?.[1] ?? ''
  const { body, coded } = page?.(script) ?? { body: '', coded: {} }
  expect(body.length).toBeGreaterThan(50_000)
  expect(coded?.br?.length).toBeLessThan(body.length / 3)
  expect(brotliDecompressSync(coded?.br ?? '')).toEqual(body)
  expect(gunzipSync(coded?.gzip ?? '')).toEqual(body)
})
