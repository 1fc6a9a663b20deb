import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { peerOrSkip } from '../../../../scripts/peers/peer-or-skip.ts'
import { codexUse as use } from '../fixture/codex-use.ts'
import { lastOutput, run, say } from '../fixture/codex-judge.ts'
import { type Step, TurnBench } from '../fixture/turn-bench.ts'

/** Codex, boxes and a crowded machine. */
const SLOW = { timeout: 240_000 }
const peer = await peerOrSkip('codex-0.166')
const codexPath = peer?.bin('codex') ?? ''

const outputs: string[] = []
/** Notes what the last call came to. */
const noting =
  (step: Step): Step =>
  (request) => {
    outputs.push(lastOutput(request))
    return typeof step === 'function' ? step(request) : step
  }

test.skipIf(peer === undefined)(
  'a real Codex takes the turns of an agent: the mounts through our gate, commands in its box, the next host in the same conversation',
  SLOW,
  async () => {
    await using bench = await TurnBench.open()
    const { gateway, scratch } = bench.agents
    const first = await bench.agents.host('first', '--codex', codexPath)
    const id = await bench.agent('mine', { engine: 'codex', instructions: 'Be brief.' })
    outputs.length = 0
    bench.play(use('count_add'), noting(run('pwd; echo made > file; ls /; env')), noting(say('Done.')))
    expect(await bench.ended(await bench.prompt(id, 'count and make a file'))).toMatchObject({
      status: 'completed',
      outcome: { message: 'Done.' },
    })
    expect(bench.counted()).toBe(1)
    const work = join(scratch.folder, 'first', 'agents', id, 'work')
    expect(readFileSync(join(work, 'file'), 'utf8')).toBe('made\n')
    expect(outputs[0]).toContain('added')
    const lines = (await bench.transcript(id)).map(({ line }) => line)
    // Codex warns of models that it has not heard of.
    const shown = lines.flatMap(({ type }) => (['memory', 'usage', 'warning'].includes(type) ? [] : [type]))
    expect(shown).toEqual(['turn_started', 'tool', 'tool_ended', 'command', 'command_ended', 'message', 'turn_ended'])
    expect(lines).toContainEqual(expect.objectContaining({ type: 'tool', mount: 'count', tool: 'add' }))
    const { lines: calls } = await gateway.call('agent.read_log', { agent_id: id, log: 'calls' })
    const decided = calls.map(({ line }) => JSON.parse(line)).filter(({ step }) => step === 'decided')
    expect(decided).toMatchObject([{ kind: 'tool', mount: 'count', name: 'add', by: 'engine', decision: { kind: 'allow' } }])
    // In the middle of the next turn its host dies: what was done is known to the next one, and not done again.
    const asked = bench.model.requests.length
    bench.play(use('count_add'), { silent: true })
    const told = await bench.prompt(id, 'count once more')
    await bench.model.arrived(asked + 2)
    process.kill(first.pid, 'SIGKILL')
    bench.play(say('Counted.'))
    await bench.agents.host('second', '--codex', codexPath)
    expect(await bench.ended(told)).toMatchObject({ status: 'completed', outcome: { message: 'Counted.' } })
    expect(bench.counted()).toBe(2)
    const known = bench.asked(-1)
    for (const words of ['count and make a file', 'Done.', 'count once more', 'interrupted by a restart'])
      expect(known).toContain(words)
    const all = JSON.stringify((await bench.transcript(id)).map(({ line }) => line))
    expect(all).not.toContain(bench.upstreamKey)
    expect(all).not.toMatch(/mdl_[A-Za-z0-9]{8}/)
    expect(readdirSync(join(scratch.folder, 'second', 'agents', id))).toContain('.engine')
  },
)

test.skipIf(peer === undefined)('where the gate denies, a Codex calls no mount and writes no file', SLOW, async () => {
  await using bench = await TurnBench.open({ gate: 'deny' })
  await bench.agents.host('one', '--codex', codexPath)
  const id = await bench.agent('mine', { engine: 'codex' })
  outputs.length = 0
  bench.play(use('count_add'), noting(run('echo made > file || echo cannot')), noting(say('I may not.')))
  expect(await bench.ended(await bench.prompt(id, 'try'))).toMatchObject({
    status: 'completed',
    outcome: { message: 'I may not.' },
  })
  expect(outputs[0]).toContain('denied by policy')
  expect(outputs[1]).toContain('cannot')
  expect(bench.counted()).toBe(0)
  expect(readdirSync(join(bench.agents.scratch.folder, 'one', 'agents', id, 'work'))).toEqual([])
})
