import { type AgentId, ApprovalStatus } from '@parley/protocol'
import { expect, test } from 'vitest'
import { MANY_PROCESSES } from '../fixture/parley.ts'
import { say, TurnBench, use } from '../fixture/turn-bench.ts'

const SLOW = { timeout: 60_000 }

const wakes = async ({ agents }: TurnBench, agent_id: AgentId) =>
  (await agents.gateway.call('agent.prompts', { agent_id })).items.filter(({ woken_by }) => woken_by !== null)
const calls = ({ agents }: TurnBench, id: AgentId) => agents.gateway.store.backgroundCalls.list(id, 10)

test(
  'a call in the background waits for a person, which wakes nobody; its end wakes its agent, which reads the result',
  MANY_PROCESSES,
  async () => {
    await using bench = await TurnBench.open({ gate: 'ask' })
    await bench.agents.host('first')
    const id = await bench.agent('mine')
    bench.play(use('loop_call', { tool: 'count_add' }), say('Started.'))
    const told = await bench.prompt(id, 'count in the background')
    expect(await bench.ended(told)).toMatchObject({ outcome: { message: 'Started.' } })
    const approvals = async () =>
      (await bench.agents.gateway.call('approval.list', { statuses: [...ApprovalStatus.options] })).items
    await expect.poll(approvals, SLOW).toMatchObject([{ name: 'add', caller: 'engine', status: 'pending' }])
    expect(await wakes(bench, id)).toEqual([])
    expect(await calls(bench, id)).toMatchObject([{ tool: 'count_add', state: 'running' }])
    const [call] = await calls(bench, id)
    bench.play(use('loop_result', { call_id: call?.id ?? '' }), say('It was added.'))
    const [approval] = await approvals()
    await bench.agents.gateway.call('approval.decide', {
      approval_id: approval?.approval_id ?? told.prompt_id,
      decision: 'approve',
    })
    await expect.poll(() => wakes(bench, id), SLOW).toMatchObject([{ woken_by: 'call', status: 'completed' }])
    expect(bench.asked(-1)).toContain('added')
    expect(bench.counted()).toBe(1)
    expect(await calls(bench, id)).toMatchObject([{ state: 'returned' }])
    const uri = `resource://agents/${id}/calls/${call?.id ?? ''}`
    // Whoever comes with the agent's token finds it under the same URI as its owner.
    const client = await bench.agents.as(id)
    expect(JSON.stringify(await client.readResource(uri))).toContain('added')
  },
)

test(
  'kill -9 of a host with a call in the background: nobody knows how it ended, the agent is told once, and it is not made again',
  MANY_PROCESSES,
  async () => {
    await using bench = await TurnBench.open({ gate: 'allow' })
    const first = await bench.agents.host('first')
    const id = await bench.agent('mine')
    bench.play(use('loop_call', { tool: 'count_stay' }), say('Started.'))
    await bench.ended(await bench.prompt(id, 'count and stay'))
    await expect.poll(() => bench.counted(), SLOW).toBe(1)
    process.kill(first.pid, 'SIGKILL')
    await first.exited
    bench.play(use('loop_calls'), say('Nobody knows.'))
    await bench.agents.host('second')
    await expect.poll(() => wakes(bench, id), SLOW).toMatchObject([{ woken_by: 'call', status: 'completed' }])
    expect(bench.asked(-1)).toContain('may have taken effect')
    expect(await calls(bench, id)).toMatchObject([{ tool: 'count_stay', state: 'unknown' }])
    expect(bench.counted()).toBe(1)
    expect(bench.model.requests).toHaveLength(4)
    expect(bench.model.violations).toEqual([])
  },
)
