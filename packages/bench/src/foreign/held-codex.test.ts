import { expect, test } from 'vitest'
import { AskingHouse, SLOW } from './fixture/asking-house.ts'
import { runHeldCodex } from './fixture/held-codex.ts'

test(
  'the real codex 0.166 waits for a person: approved from the shell its write is made once, and a denial is read by its model',
  SLOW,
  async (context) => {
    await using asking = await AskingHouse.open()
    const { agent, files } = await asking.agentWithFiles(context)
    const writes = [
      { path: files.path('approved.txt'), content: 'yes' },
      { path: files.path('denied.txt'), content: 'no' },
    ]
    const person = async (): Promise<void> => {
      await asking.decide(await asking.waiting(agent, 'approved.txt'), 'approve')
      await asking.decide(await asking.waiting(agent, 'denied.txt'), 'deny', '--reason', 'not today')
    }
    const [outputs] = await Promise.all([
      runHeldCodex(context, {
        mcp: asking.mcp,
        token: agent.token,
        next: (done) => Promise.resolve(writes[done.length]),
      }),
      person(),
    ])
    expect(outputs).toEqual([expect.stringContaining('Successfully wrote'), expect.stringContaining('not today')])
    expect(files.files()).toEqual({ 'approved.txt': 'yes' })
    expect(files.calls()).toEqual([expect.stringContaining('approved.txt')])
    expect(files.stdin()).not.toContain('denied.txt')
  },
)
