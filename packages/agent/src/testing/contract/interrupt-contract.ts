import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { contractTest } from './contract-test.ts'
import { type Conversing, MODEL, converse } from './converse.ts'
import type { ContractHarness, ScriptedAnswer } from './harness.ts'
import { Recorder, said, turn } from './recorder.ts'

const SLEEP = { run: ['sh', '-c', 'echo $$ > pid; exec sleep 600'] } as const
const never = (): Promise<never> => new Promise(() => undefined)

/** At what moment a turn is cut short: what the model does, and what to wait for. */
interface Stage {
  readonly name: string
  readonly answer: ScriptedAnswer
  readonly asks?: true
  readonly reached: (c: Conversing) => Promise<unknown>
}

const STAGES: readonly Stage[] = [
  { name: 'nothing has been said yet', answer: { hang: true }, reached: (c) => c.world.asked(MODEL, 1) },
  {
    name: 'the model is in the middle of a sentence',
    answer: { stall: 'I was about to' },
    reached: (c) => c.recorder.seen('message_delta'),
  },
  { name: 'a command runs', answer: [SLEEP], reached: sleeping },
  { name: 'a mounted tool works', answer: [{ use: 'wait', arguments: {} }], reached: (c) => c.recorder.seen('tool_begin') },
  { name: 'somebody is asked', answer: [SLEEP], asks: true, reached: (c) => c.recorder.seen('approval_requested') },
  {
    name: 'several things run',
    answer: [SLEEP, { use: 'wait', arguments: {} }, { use: 'echo', arguments: { text: 'quick' } }],
    reached: (c) => Promise.all([sleeping(c), c.recorder.seen('tool_end')]),
  },
]

/** What comes from outside while a turn is under way. */
export function interruptContract(harness: ContractHarness): void {
  const test = contractTest(harness)
  describe('from outside', () => {
    for (const stage of STAGES)
      test(`a turn is interrupted while ${stage.name}, and the next one works`, async () => {
        const recorder = new Recorder(stage.asks === true ? never : () => 'approved')
        await using c = await converse(harness, {
          answers: [stage.answer, [{ say: 'fresh start' }]],
          recorder,
          options: stage.asks === true ? { approvals: 'always' } : {},
        })
        const started = c.conversation.submit(said('go'))
        await stage.reached(c)
        await c.conversation.interrupt()
        expect(await started.ended).toEqual({ kind: 'interrupted' })
        expect(c.recorder.events.at(-1)).toMatchObject({ type: 'turn_ended', end: { kind: 'interrupted' } })
        const pid = pidIn(c)
        if (pid > 0) await expect.poll(() => isAlive(pid)).toBe(false)
        expect(await turn(c.conversation, 'go on')).toEqual({ kind: 'completed', message: 'fresh start' })
      })

    test('an interrupt without a turn does nothing', async () => {
      await using c = await converse(harness, { answers: [[{ say: 'here' }]] })
      await c.conversation.interrupt()
      expect(await turn(c.conversation, 'hello')).toEqual({ kind: 'completed', message: 'here' })
      await c.conversation.interrupt()
    })

    test('whoever is asked hears that nobody waits any more', async () => {
      let told: AbortSignal | undefined
      const recorder = new Recorder((_request, signal) => {
        told = signal
        return never()
      })
      await using c = await converse(harness, { answers: [[SLEEP]], recorder, options: { approvals: 'always' } })
      c.conversation.submit(said('go'))
      await recorder.seen('approval_requested')
      await c.conversation.interrupt()
      expect(told?.aborted).toBe(true)
      expect(recorder.one('approval_resolved').decision).toBe('abort')
    })

    test('steering is read before the next request of the same turn', async () => {
      // An engine that is a process hears of it a moment after it was taken.
      const wait = { run: ['sh', '-c', 'touch waiting; while [ ! -e go ]; do sleep 0.05; done; sleep 0.3'] }
      await using c = await converse(harness, { answers: [[wait], [{ say: 'turned' }]] })
      const started = c.conversation.submit(said('go straight'))
      // Polled as a whole, so that a failure tells how far the turn came.
      const seen = () => ({
        isWaiting: existsSync(join(c.folder, 'waiting')),
        asked: c.world.heard(MODEL).length,
        told: c.recorder.events.map(({ type }) => type),
      })
      await expect.poll(seen).toMatchObject({ isWaiting: true })
      expect(c.conversation.steer([{ type: 'text', text: 'no, turn left' }])).toBe(true)
      writeFileSync(join(c.folder, 'go'), '')
      expect(await started.ended).toEqual({ kind: 'completed', message: 'turned' })
      expect(c.world.heard(MODEL)).toHaveLength(2)
      expect(c.world.heard(MODEL)[1]).toContain('no, turn left')
    })

    test('steering without a turn is not taken', async () => {
      await using c = await converse(harness, { answers: [[{ say: 'done' }]] })
      expect(c.conversation.steer([{ type: 'text', text: 'left' }])).toBe(false)
      await turn(c.conversation, 'go')
      expect(c.conversation.steer([{ type: 'text', text: 'left' }])).toBe(false)
    })

    test('a second turn at the same time is refused', async () => {
      await using c = await converse(harness, { answers: [{ hang: true }] })
      c.conversation.submit(said('first'))
      await c.world.asked(MODEL, 1)
      expect(() => c.conversation.submit(said('second'))).toThrow(expect.objectContaining({ code: 'conversation_busy' }))
      await c.conversation.interrupt()
    })
  })
}

async function sleeping(c: Conversing): Promise<void> {
  await expect.poll(() => pidIn(c)).toBeGreaterThan(0)
}

function pidIn({ folder }: Conversing): number {
  const path = join(folder, 'pid')
  return existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
