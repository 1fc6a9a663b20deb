import { afterAll, expect, test } from 'vitest'
import { Scratch } from '../fixture/parley.ts'
import { commandsHere } from '../fixture/run-here.ts'
import { COMMANDS, GROUPS } from './table.ts'

const scratch = new Scratch()
const { run } = commandsHere(scratch)
afterAll(() => scratch[Symbol.asyncDispose]())

test.each(COMMANDS.map(({ name }) => [name]))(
  '%s answers --help, and tells garbage in one line with exit code 2',
  async (name) => {
    const words = name.split(' ')
    expect(await run([...words, '--help'])).toEqual({ code: 0, out: expect.stringContaining(`Usage: parley ${name} `), err: '' })
    const wrong = await run([...words, '--frobnicate'])
    expect(wrong).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(/^parley: \S[^\n]* has no option --frobnicate \([^\n]+\)\n$/),
    })
    const surplus = await run([...words, 'a', 'b', 'c', 'd'])
    expect(surplus).toEqual({ code: 2, out: '', err: expect.stringMatching(/^parley: [^\n]+\n$/) })
    const asJson = await run([...words, '--frobnicate', '--json'])
    expect({ ...asJson, err: JSON.parse(asJson.err) }).toEqual({
      code: 2,
      out: '',
      err: { error: { code: 'usage', message: `${name} has no option --frobnicate`, hint: expect.any(String) } },
    })
  },
)

test.each(
  COMMANDS.map(({ name, positionals = [] }) => [name, positionals] as const).filter(([, specs]) =>
    specs.some(({ optional }) => optional !== true),
  ),
)('%s says what it needs', async (name, specs) => {
  const needed = specs.find(({ optional }) => optional !== true)
  expect(await run(name.split(' '))).toEqual({
    code: 2,
    out: '',
    err: `parley: ${name} needs ${needed?.name} (parley ${name} --help)\n`,
  })
})

test('help knows groups, first words and commands, and what was meant', async () => {
  for (const { name, commands } of GROUPS) {
    const { code, out } = await run(['help', name])
    expect({ name, code }).toEqual({ name, code: 0 })
    for (const command of commands) expect(out).toContain(`  ${command.name} `)
  }
  expect((await run(['help', 'job', 'submit'])).out).toBe((await run(['job', 'submit', '--help'])).out)
  expect((await run(['help', 'job'])).out).toContain('Usage: parley job COMMAND [OPTIONS]')
  expect(await run(['help', 'jbos'])).toEqual({
    code: 2,
    out: '',
    err: 'parley: there is no command and no group jbos (did you mean parley help jobs?)\n',
  })
})
