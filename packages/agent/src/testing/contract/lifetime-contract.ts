import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { contractTest } from './contract-test.ts'
import { MODEL, converse } from './converse.ts'
import type { ContractHarness } from './harness.ts'
import { Recorder, expectWhole, said, turn } from './recorder.ts'

/** Beyond one conversation of one engine. */
export function lifetimeContract(harness: ContractHarness): void {
  const test = contractTest(harness)
  describe('lifetime', () => {
    test('another engine goes on where the conversation stood', async () => {
      const run = { run: ['echo', 'from-the-command'] }
      await using c = await converse(harness, { answers: [[run], [{ say: 'the-first-answer' }], [{ say: 'I remember' }]] })
      await turn(c.conversation, 'the-first-question')
      const first = c.recorder.all('usage').at(-1)
      await c.engine.close()
      const engine = await c.world.openEngine()
      const recorder = new Recorder()
      const resumed = await engine.resume(c.conversation.id, c.options, recorder)
      expect(resumed.id).toBe(c.conversation.id)
      expect(await turn(resumed, 'and now?')).toEqual({ kind: 'completed', message: 'I remember' })
      const heard = c.world.heard(MODEL).at(-1) ?? ''
      for (const text of ['the-first-question', 'from-the-command', 'the-first-answer', 'and now?']) expect(heard).toContain(text)
      const { last, total } = recorder.one('usage')
      expect(total.input_tokens).toBe((first?.total.input_tokens ?? 0) + last.input_tokens)
      expectWhole(recorder.events)
      await engine.close()
    })

    test('a conversation that was closed in the middle of a turn goes on as well', async () => {
      const sleep = { run: ['sleep', '600'] }
      await using c = await converse(harness, { answers: [[sleep], [{ say: 'up again' }]] })
      c.conversation.submit(said('sleep'))
      await c.recorder.seen('command_begin')
      await c.engine.close()
      const engine = await c.world.openEngine()
      const resumed = await engine.resume(c.conversation.id, c.options, new Recorder())
      expect(await turn(resumed, 'wake up')).toEqual({ kind: 'completed', message: 'up again' })
      await engine.close()
    })

    test('a conversation that nobody knows cannot be gone on with', async () => {
      await using c = await converse(harness, { answers: [] })
      const unknown = expect.objectContaining({ code: 'conversation_unknown' })
      for (const id of ['cnv_00000000000000000000000000', '../../etc/passwd', ''])
        await expect(c.engine.resume(id, c.options, new Recorder())).rejects.toThrow(unknown)
    })

    test('closing ends the turn, what it ran, and the conversation', async () => {
      const sleep = { run: ['sh', '-c', 'echo $$ > pid; exec sleep 600'] }
      await using c = await converse(harness, { answers: [[sleep]] })
      const path = join(c.folder, 'pid')
      const pid = (): number => (existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0)
      const started = c.conversation.submit(said('sleep'))
      await expect.poll(pid).toBeGreaterThan(0)
      await c.conversation.close()
      expect(await started.ended).toEqual({ kind: 'interrupted' })
      await expect.poll(() => existsSync(`/proc/${pid()}/stat`) && !isZombie(pid())).toBe(false)
      expect(() => c.conversation.submit(said('more'))).toThrow(expect.objectContaining({ code: 'conversation_closed' }))
      expect(c.conversation.steer([{ type: 'text', text: 'more' }])).toBe(false)
      await c.conversation.close()
    })

    test('conversations of one engine do not know of each other', async () => {
      await using c = await converse(harness, { answers: [] })
      const names = ['left', 'middle', 'right']
      const talks = await Promise.all(
        names.map(async (name) => {
          const model = `model-${name}`
          c.world.script(model, [[{ run: ['echo', `${name}-command`] }], [{ say: `${name}-answer` }]])
          const recorder = new Recorder()
          return { name, model, recorder, conversation: await c.engine.open(await c.world.options(model), recorder) }
        }),
      )
      expect(new Set(talks.map(({ conversation }) => conversation.id)).size).toBe(names.length)
      const ends = await Promise.all(talks.map(({ conversation, name }) => turn(conversation, `${name}-question`)))
      expect(ends).toEqual(names.map((name) => ({ kind: 'completed', message: `${name}-answer` })))
      for (const { name, model, recorder } of talks) {
        const heard = c.world.heard(model).join('\n')
        expect(heard).toContain(`${name}-command`)
        for (const other of names) if (other !== name) expect(heard).not.toContain(`${other}-`)
        expectWhole(recorder.events)
      }
    })
  })
}

function isZombie(pid: number): boolean {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return true
  }
}
