import { type AgentId, ApprovalStatus, type Prompt } from '@parley/protocol'
import { expect, test } from 'vitest'
import { MANY_PROCESSES } from '../fixture/parley.ts'
import { say, TurnBench, use } from '../fixture/turn-bench.ts'

const SLOW = { timeout: 60_000 }

async function approvalsOf(bench: TurnBench) {
  return (await bench.agents.gateway.call('approval.list', { statuses: [...ApprovalStatus.options] })).items
}

/** The one approval there is, once it is as it should be. */
async function approvalThat(bench: TurnBench, like: object) {
  await expect.poll(() => approvalsOf(bench), SLOW).toMatchObject([like])
  const [approval] = await approvalsOf(bench)
  if (approval === undefined) throw new TypeError('there is no approval')
  return approval.approval_id
}

const heldBy = async ({ agents }: TurnBench, agent_id: AgentId) => (await agents.gateway.call('agent.get', { agent_id })).host

/** The second host has begun the call anew, and somebody waits for its approval again. */
async function waitsAgain(bench: TurnBench, id: AgentId): Promise<void> {
  await expect.poll(() => heldBy(bench, id), SLOW).toBe('second')
  const begun = async () => (await bench.transcript(id)).filter(({ line }) => line.type === 'tool').length
  await expect.poll(begun, SLOW).toBe(2)
  await approvalThat(bench, { status: 'pending', caller_gone_at: null })
}

interface Waiting {
  readonly id: AgentId
  readonly told: Prompt
  readonly approval: Awaited<ReturnType<typeof approvalThat>>
}

/** A turn whose model has asked for a call that a person is asked about; then its host is killed. */
async function killedWhileItWaits(bench: TurnBench): Promise<Waiting> {
  const first = await bench.agents.host('first')
  const id = await bench.agent('mine')
  bench.play(use('count_add'))
  const told = await bench.prompt(id, 'count once')
  const approval = await approvalThat(bench, { status: 'pending', caller_gone_at: null })
  process.kill(first.pid, 'SIGKILL')
  await first.exited
  return { id, told, approval }
}

test(
  'fault 6: kill -9 of a host while a person is asked: the next one waits for the same approval, and the call is made once',
  MANY_PROCESSES,
  async () => {
    await using bench = await TurnBench.open({ gate: 'ask' })
    const { id, told, approval } = await killedWhileItWaits(bench)
    bench.play(say('Counted.'))
    await bench.agents.host('second')
    await waitsAgain(bench, id)
    expect(await approvalThat(bench, { status: 'pending', caller_gone_at: null })).toBe(approval)
    expect(bench.counted()).toBe(0)
    // Whoever follows the turn sees that it waits, and for what, also under this host; the one before may have died before it said so.
    const asked = async () => {
      const lines = (await bench.transcript(id)).map(({ line }) => line)
      return lines.slice(lines.findLastIndex(({ type }) => type === 'turn_started')).filter(({ type }) => type === 'asked')
    }
    await expect.poll(asked, SLOW).toMatchObject([{ approval_id: approval, kind: 'tool', mount: 'count', name: 'add' }])
    expect(await bench.agents.gateway.call('agent.get', { agent_id: id })).toMatchObject({ approvals_pending: 1 })
    await bench.agents.gateway.call('approval.decide', { approval_id: approval, decision: 'approve' })
    expect(await bench.ended(told)).toMatchObject({ status: 'completed', outcome: { message: 'Counted.' } })
    expect(bench.counted()).toBe(1)
    expect(await approvalThat(bench, { status: 'returned' })).toBe(approval)
    expect(bench.model.requests).toHaveLength(2)
    expect(bench.asked(-1)).toContain('added')
    expect(bench.asked(-1)).not.toContain('restart')
    expect(bench.model.violations).toEqual([])
  },
)

test.each([
  ['between two hosts', true],
  ['under the next host', false],
])('kill -9 of a host while a person is asked: a denial %s is read by the model', MANY_PROCESSES, async (_when, isBetween) => {
  await using bench = await TurnBench.open({ gate: 'ask' })
  const { id, told, approval } = await killedWhileItWaits(bench)
  const no = { approval_id: approval, decision: 'deny_continue', reason: 'count the other one' } as const
  const deny = () => bench.agents.gateway.call('approval.decide', no)
  bench.play(say('Then not.'))
  if (isBetween) await deny()
  await bench.agents.host('second')
  if (!isBetween) {
    await waitsAgain(bench, id)
    await deny()
  }
  expect(await bench.ended(told)).toMatchObject({ status: 'completed', outcome: { message: 'Then not.' } })
  expect(bench.asked(-1)).toContain('count the other one')
  expect(await approvalThat(bench, { status: 'denied' })).toBe(approval)
  expect(bench.counted()).toBe(0)
})

test(
  'kill -9 of a host after a call was sent: its end is unknown, the model is told, and it is not made again',
  MANY_PROCESSES,
  async () => {
    await using bench = await TurnBench.open({ gate: 'ask' })
    const first = await bench.agents.host('first')
    const id = await bench.agent('mine')
    bench.play(use('count_stay'))
    const told = await bench.prompt(id, 'count and stay')
    const approval = await approvalThat(bench, { status: 'pending' })
    await bench.agents.gateway.call('approval.decide', { approval_id: approval, decision: 'approve' })
    await expect.poll(() => bench.counted(), SLOW).toBe(1)
    process.kill(first.pid, 'SIGKILL')
    bench.play(say('Nobody knows.'))
    await bench.agents.host('second')
    expect(await bench.ended(told)).toMatchObject({ status: 'completed', outcome: { message: 'Nobody knows.' } })
    expect(bench.asked(-1)).toContain('may have taken effect')
    expect(await approvalThat(bench, { status: 'unknown' })).toBe(approval)
    expect(bench.counted()).toBe(1)
  },
)
