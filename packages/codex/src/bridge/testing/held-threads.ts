import { afterAll, expect, test } from 'vitest'
import { Recorder } from '@parley/agent/testing'
import { peerFor } from '../../../../../scripts/peers/peer-or-skip.ts'
import { type CodexWorld, openCodexWorld } from '../../testing/index.ts'
import type { CodexProcess, StartCodex } from '../codex-process.ts'

const said = (text: string) => ({ input: [{ type: 'text', text }] as const })
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** What becomes of the threads that a real Codex holds after they were closed. */
export function heldThreads(name: 'codex-0.166' | 'codex-0.44'): void {
  const worlds: CodexWorld[] = []
  afterAll(async () => void (await Promise.all(worlds.map((world) => world[Symbol.asyncDispose]()))))

  test(`${name}: an idle process that holds many closed threads is replaced, and nobody notices`, async (context) => {
    const world = await openCodexWorld({ peer: await peerFor(context, name) })
    worlds.push(world)
    const started: CodexProcess[] = []
    const warnings: string[] = []
    const start: StartCodex = async (args) => {
      const child = await world.start(args)
      started.push(child)
      return child
    }
    const warn = (message: string): void => void warnings.push(message)
    const bridge = await world.openBridge({ start, warn, limits: { heldThreads: 2 } })
    const { folder } = await world.options('m')
    const order = { model: 'm', folder, approvalPolicy: 'never', sandbox: 'danger-full-access' } as const
    const open = () => bridge.open(order, new Recorder())
    world.script(
      'm',
      ['one', 'two', 'three'].map((text) => [{ say: text }]),
    )
    const opened = async (count: number) => Promise.all(Array.from({ length: count }, open))

    const [kept, unspoken, ...others] = await opened(4)
    if (kept === undefined || unspoken === undefined) throw new TypeError('nothing was opened')
    expect(await kept.submit(said('first')).ended).toMatchObject({ message: 'one' })
    await Promise.all(others.map((other) => other.close()))
    // What nobody has said anything in is nowhere but in this process.
    expect(await bridge.ask(name === 'codex-0.166' ? 'thread/loaded/list' : 'getUserAgent', {})).toBeDefined()
    expect(started.map(({ pid }) => isAlive(pid))).toEqual([true])
    expect(await unspoken.submit(said('now')).ended).toMatchObject({ message: 'two' })
    await expect.poll(() => isAlive(started[0]?.pid ?? 0)).toBe(false)
    expect(started).toHaveLength(1)

    expect(await kept.submit(said('second')).ended).toMatchObject({ message: 'three' })
    expect(world.heard('m').at(-1)).toContain('first')
    expect(started.map(({ pid }) => isAlive(pid))).toEqual([false, true])
    expect(warnings).toEqual([])
    await bridge.close()
  })
}
