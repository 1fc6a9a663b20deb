import { ApprovalStatus, type ToolInput } from '@parley/protocol'
import { expect, test } from 'vitest'
import { MANY_PROCESSES } from '../fixture/parley.ts'
import { say, shell, TurnBench } from '../fixture/turn-bench.ts'

const SLOW = { timeout: 60_000 }

/** The newest approval that waits, once there is one for this. */
async function waiting(bench: TurnBench, name: string) {
  const newest = async () =>
    (await bench.agents.gateway.call('approval.list', { statuses: [...ApprovalStatus.options] })).items.find(
      (approval) => approval.name === name && approval.status === 'pending',
    )
  await expect.poll(newest, SLOW).toBeDefined()
  const approval = await newest()
  if (approval === undefined) throw new TypeError('it does not wait any more')
  return approval
}

test(
  'a command of an agent calls a tool: a person is asked about it as about any call, and what they say is told to the command',
  MANY_PROCESSES,
  async () => {
    await using bench = await TurnBench.open({ gate: 'ask' })
    await bench.agents.host('first')
    const id = await bench.agent('mine')
    const calls = 'parley-agent call count_add; parley-agent call count_add; parley-agent list | cut -f1; env | grep ^PARLEY_'
    bench.play(shell(calls), say('Done.'))
    const told = await bench.prompt(id, 'count by a command')
    const decide = (decision: ToolInput<'approval.decide'>) => bench.agents.gateway.call('approval.decide', decision)
    const command = await waiting(bench, 'bash')
    await decide({ approval_id: command.approval_id, decision: 'approve' })
    const first = await waiting(bench, 'add')
    expect(first).toMatchObject({ caller: 'box', mount: 'count', kind: 'tool' })
    expect(bench.counted()).toBe(0)
    await decide({ approval_id: first.approval_id, decision: 'approve' })
    const second = await waiting(bench, 'add')
    await decide({ approval_id: second.approval_id, decision: 'deny_continue', reason: 'once is enough' })
    expect(await bench.ended(told)).toMatchObject({ status: 'completed', outcome: { message: 'Done.' } })
    expect(bench.counted()).toBe(1)
    const heard = bench.asked(-1)
    for (const words of ['added', 'once is enough', 'count_stay', 'PARLEY_AGENT_SOCKET=127.0.0.1:', 'PARLEY_AGENT_TOKEN=••••'])
      expect(heard).toContain(words)
    const { lines } = await bench.agents.gateway.call('agent.read_log', { agent_id: id, log: 'calls' })
    const decided = lines.map(({ line }) => JSON.parse(line)).filter(({ step }) => step === 'decided')
    expect(decided.map(({ by, name }) => [by, name])).toEqual([
      ['engine', 'bash'],
      ['box', 'add'],
      ['box', 'add'],
    ])
    expect(JSON.stringify([lines, await bench.transcript(id)])).not.toMatch(/AGENT_TOKEN=[^•]/)
  },
)
