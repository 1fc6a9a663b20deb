import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type ContractHarness, Recorder } from '@parley/agent/testing'

/** What versions up to 0.107 cannot do, by the title of the contract's test. */
export const OLD_DIFFERS: NonNullable<ContractHarness['differs']> = {
  'the schema of the answer reach the model': 'a turn takes no schema, so that it stands in the input',
  'a refusal fails the turn': 'Codex reads over a refusal and tells nothing of it',
  'while several things run': 'the calls of one answer are made one after the other',
}

const MODEL = 'model-one'
const SLEEP = { run: ['sh', '-c', 'echo $$ > pid; exec sleep 600'] } as const
const schemaOf = (name: string) => ({ type: 'object', properties: { [name]: { type: 'integer' } }, required: [name] })

/** What these versions do instead of what `OLD_DIFFERS` names. */
export function oldCodexContract(name: string, harness: ContractHarness): void {
  describe(`${name} does otherwise`, () => {
    test('a schema stands in the input of its turn, and one warning says so', async () => {
      await using world = await harness.open()
      world.script(MODEL, [[{ say: '{"zwei":2}' }], [{ say: '{"drei":3}' }]])
      const engine = await world.openEngine()
      const options = { ...(await world.options(MODEL)), instructions: 'never-to-be-forgotten', outputSchema: schemaOf('zwei') }
      const recorder = new Recorder()
      const conversation = await engine.open(options, recorder)
      const input = [{ type: 'text', text: 'count' }] as const
      expect(await conversation.submit({ input }).ended).toEqual({ kind: 'completed', message: '{"zwei":2}' })
      await conversation.submit({ input, outputSchema: schemaOf('drei') }).ended
      const [first = '', second = ''] = world.heard(MODEL)
      for (const heard of [first, second]) expect(heard).toContain('never-to-be-forgotten')
      expect(first).toContain(String.raw`\"required\":[\"zwei\"]`)
      expect(second).toContain(String.raw`\"required\":[\"drei\"]`)
      expect(recorder.all('warning').map(({ message }) => message)).toEqual([expect.stringContaining('schema')])
    })

    test('a refusal completes the turn without a message', async () => {
      await using world = await harness.open()
      world.script(MODEL, [{ refuse: 'I would rather not.' }])
      const conversation = await (await world.openEngine()).open(await world.options(MODEL), new Recorder())
      const { ended } = conversation.submit({ input: [{ type: 'text', text: 'do it' }] })
      expect(await ended).toEqual({ kind: 'completed', message: '' })
    })

    test('a turn is interrupted in the first of several calls, the others are never made, and the next one works', async () => {
      await using world = await harness.open()
      world.script(MODEL, [[SLEEP, { use: 'echo', arguments: { text: 'late' } }], [{ say: 'fresh start' }]])
      const recorder = new Recorder()
      const options = await world.options(MODEL)
      const conversation = await (await world.openEngine()).open(options, recorder)
      const { ended } = conversation.submit({ input: [{ type: 'text', text: 'go' }] })
      const path = join(options.folder, 'pid')
      const pid = (): number => (existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0)
      await expect.poll(pid).toBeGreaterThan(0)
      await conversation.interrupt()
      expect(await ended).toEqual({ kind: 'interrupted' })
      expect(recorder.all('tool_begin')).toEqual([])
      await expect.poll(() => existsSync(`/proc/${pid()}`)).toBe(false)
      const next = conversation.submit({ input: [{ type: 'text', text: 'go on' }] })
      expect(await next.ended).toEqual({ kind: 'completed', message: 'fresh start' })
      expect(world.violations()).toEqual([])
    })
  })
}
