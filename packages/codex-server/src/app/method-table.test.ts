import { expect, test } from 'vitest'
import { METHOD_TABLE, renderMethodTable } from './method-table.ts'
import { METHODS } from './methods.ts'

test('the table has a row for every method that is served, in its dialects', () => {
  const rows = METHOD_TABLE.filter(({ kind }) => kind === 'request').flatMap(({ method, dialects }) =>
    method.split(', ').map((name) => [name, [...dialects]] as const),
  )
  const empty = ['resources/list', 'resources/templates/list', 'prompts/list']
  const served = Object.entries(METHODS).filter(([name]) => !empty.includes(name))
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(served.map(([name, { dialects }]) => [name, [...dialects]])))
})

test('as Markdown every row has six cells', () => {
  const lines = renderMethodTable().trimEnd().split('\n')
  expect(lines).toHaveLength(METHOD_TABLE.length + 2)
  for (const line of lines) expect(line.split(/(?<!\\)\|/)).toHaveLength(8)
})
