import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { RESOURCES } from '@parley/protocol'
import { expect, test } from 'vitest'
import { openTestGateway } from './fixture/test-gateway.ts'

const text = readFileSync(join(import.meta.dirname, '../../../docs/mcp-architecture.md'), 'utf8')

/** The cells of the table under a heading of one of its columns. */
function tableUnder(heading: string): readonly (readonly string[])[] {
  const lines = text.split('\n')
  const start = lines.findIndex((line) => line.startsWith(`| ${heading} |`))
  const length = lines.slice(start).findIndex((line) => !line.startsWith('|'))
  const rows = lines.slice(start + 2, start + length)
  return rows.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

/** `resource://jobs/{id}/terminal`, `…/cases`: what stands for the beginning of the one before. */
function urisIn(cell: string): readonly string[] {
  const [first = '', ...more] = [...cell.matchAll(/`([^`]+)`/g)].map(([, uri]) => uri ?? '')
  const base = first.slice(0, first.lastIndexOf('/'))
  return [first, ...more.map((uri) => uri.replace(/^…/, base))]
}

test('every resource is in the table, with when it is told of, and no other', () => {
  const rows = tableUnder('URI')
  expect(rows.flatMap(([uris = '']) => urisIn(uris)).toSorted()).toEqual(Object.keys(RESOURCES).toSorted())
  for (const [, content, told] of rows) expect([content, told]).not.toContain('')
})

test('no path from elsewhere is served, but those that are said to be', async () => {
  await using gw = await openTestGateway()
  const rows = tableUnder('path')
  expect(rows.length).toBeGreaterThan(10)
  for (const [path = ''] of rows.slice(0, -2)) {
    const [, method = 'GET', at = ''] = /`(?:([A-Z]+) )?([^`]+)`/.exec(path) ?? []
    const headers = { authorization: `Bearer ${gw.adminToken}` }
    const { status } = await fetch(`${gw.gateway.url}${at.replaceAll(/\{\w+\}/g, 'x')}`, { method, headers })
    expect([path, status]).toEqual([path, 404])
  }
})
