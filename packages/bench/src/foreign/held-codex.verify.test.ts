import { expect, test } from 'vitest'
import { AskingHouse, POLL, SLOW } from './fixture/asking-house.ts'
import { runHeldCodex } from './fixture/held-codex.ts'

/** Nobody decides so soon. */
const IMPATIENT = 'tool_timeout_sec = 5'

test('what codex 0.166 gives up is still decided, and the same call again has the one effect', SLOW, async (context) => {
  await using asking = await AskingHouse.open()
  const { agent, files } = await asking.agentWithFiles(context)
  const write = { path: files.path('late.txt'), content: 'yes' }
  const asked: string[] = []
  const outputs = await runHeldCodex(context, {
    mcp: asking.mcp,
    token: agent.token,
    settings: IMPATIENT,
    next: async (done) => {
      if (done.length === 0) return write
      if (done.length > 1) return undefined
      // Its model has read that time was up. Now somebody comes who says yes, while nobody waits.
      await expect
        .poll(() => asking.asked(agent, 'late.txt'), POLL)
        .toMatchObject({ status: 'pending', caller_gone_at: expect.any(String) })
      asked.push((await asking.asked(agent, 'late.txt'))?.approval_id ?? '')
      await asking.decide(asked[0] ?? '', 'approve')
      expect(files.calls()).toEqual([])
      return write
    },
  })
  expect(outputs).toEqual([expect.stringContaining('timed out'), expect.stringContaining('Successfully wrote')])
  expect(files.files()).toEqual({ 'late.txt': 'yes' })
  expect(files.calls()).toHaveLength(1)
  const last = { approval_id: asked[0], status: 'returned' }
  await expect.poll(() => asking.asked(agent, 'late.txt'), POLL).toMatchObject(last)
})
