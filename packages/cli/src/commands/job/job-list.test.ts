import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LocalGateway } from '../../fixture/local-gateway.ts'
import { MANY_PROCESSES, Scratch } from '../../fixture/parley.ts'
import { hasTerminals, onTerminal } from '../../fixture/pty.ts'
import { commandsHere } from '../../fixture/run-here.ts'
import { zipFolder } from '@parley/shell'
import { widthOf } from '@parley/screen'

const scratch = new Scratch()
const { run, json } = commandsHere(scratch)
const at = ['--data', scratch.data]
const TITLE = '背包问题: a title that is wider than the whole of a usual terminal, e\u0301 and all'
let gateway: LocalGateway
let id: string
beforeAll(async () => {
  gateway = await LocalGateway.open(scratch.data)
  id = await gateway.submit({ title: TITLE })
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await scratch[Symbol.asyncDispose]()
})

test.skipIf(!hasTerminals())('on a terminal of 80 columns the lists fit, with whole ids', MANY_PROCESSES, async () => {
  const { code, out } = await onTerminal(scratch, ['job', 'list', ...at], { columns: 80, rows: 24 })
  const lines = out.replaceAll('\r', '').trimEnd().split('\n')
  expect({ code, wide: lines.filter((line) => widthOf(line) > 80) }).toEqual({ code: 0, wide: [] })
  expect(lines[0]).toMatch(/^id +status +passed +(?:language +)?created +title$/)
  const row = new RegExp(`^${id} +queued +.*(?:just now|min ago) +背包问题: .*…$`)
  expect(lines).toContainEqual(expect.stringMatching(row))
})

test('into a pipe nothing is cut, times are those of the reader, and --json keeps ISO', MANY_PROCESSES, async () => {
  const { items } = await json(['job', 'list', ...at])
  const own = items.find(({ job_id }: { job_id: string }) => job_id === id)
  expect(own.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const there = (hours: number) =>
    new Date(Date.parse(own.created_at) + hours * 3_600_000).toISOString().slice(0, 16).replace('T', ' ')
  for (const [TZ, hours] of [
    ['Asia/Tokyo', 9],
    ['UTC', 0],
    ['Etc/GMT+11', -11],
  ] as const) {
    const listed = await run(['job', 'list', ...at], { env: { TZ } })
    expect(listed.out).toMatch(
      new RegExp(`^${id} +admin +queued \\(no judge\\) +cpp +${there(hours)} +背包问题: .*e\u0301 and all$`, 'm'),
    )
    // A process of its own has its zone from the system's library.
    const shown = await scratch.run(['job', 'show', id, ...at], { env: { TZ } })
    expect(shown.out).toContain(`created   ${there(hours)}\n`)
  }
})

test('what was handed in is listed, printed and written out again', async () => {
  const place = (name: string) => join(scratch.folder, name)
  const tests = zipFolder(new URL('../../../../../examples/knapsack/tests', import.meta.url).pathname, 'tests')
  const code = 'int main() { return 0; }\n'
  writeFileSync(place('mine.cpp'), code)
  writeFileSync(place('tests.zip'), tests)
  await run(['job', 'submit', '--judge-only', '--code', 'mine.cpp', '--tests', 'tests.zip', '--detach', ...at])
  const listed = await run(['job', 'input', '@last', ...at])
  expect(listed.out).toMatch(/^main\.cpp +25 bytes\ntests\/1\.in +\d+ bytes\n/)
  const example = (name: string) => new URL(`../../../../../examples/knapsack/tests/${name}`, import.meta.url)
  const input = readFileSync(example('1.in'), 'utf8')
  expect(await run(['job', 'input', '@last', 'tests/1.in', ...at])).toEqual({ code: 0, out: input, err: '' })
  const { content_b64 } = await json(['job', 'input', '@last', 'main.cpp', ...at])
  expect(Buffer.from(content_b64, 'base64').toString()).toBe(code)
  expect(await run(['job', 'input', '@last', 'tests/1.inn', ...at])).toMatchObject({
    code: 1,
    err: expect.stringContaining('(did you mean tests/1.in?)'),
  })
  const written = await run(['job', 'input', '@last', '--out', 'got', ...at])
  expect({ ...written, err: written.err.split('\n')[0] }).toEqual({ code: 0, out: '', err: place('got/main.cpp') })
  expect([readFileSync(place('got/main.cpp'), 'utf8'), readFileSync(place('got/tests/1.in'), 'utf8')]).toEqual([code, input])
})
