import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentId } from '@parley/protocol'
import { expect, test } from 'vitest'
import { AgentBench, ON_HOST, stdio, toolsOf } from '../fixture/agent-bench.ts'
import { MANY_PROCESSES } from '../fixture/parley.ts'

const SLOW = { timeout: 60_000 }

test(
  'a deleted agent leaves nothing: not on the host that holds it, and not on one that held it once',
  MANY_PROCESSES,
  async () => {
    await using bench = await AgentBench.open()
    const folderOf = (host: string, id: AgentId): string => join(bench.scratch.folder, host, 'agents', id)
    const first = await bench.host('first')
    const made = async (name: string): Promise<AgentId> => {
      const id = await bench.agent(name, { here: stdio(ON_HOST), boxed: stdio() })
      const client = await bench.as(id)
      for (const mount of ['here', 'boxed']) await expect.poll(() => toolsOf(client, mount), SLOW).not.toEqual([])
      return id
    }
    const [held, away, stays] = [await made('held'), await made('away'), await made('stays')]
    for (const id of [held, away, stays]) expect(existsSync(folderOf('first', id))).toBe(true)
    // A link that a program left there is not followed.
    const outside = join(bench.scratch.folder, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'kept'), '')
    symlinkSync(outside, join(folderOf('first', held), 'mounts', 'here', 'link'))
    expect(await bench.gateway.call('agent.delete', { agent_id: held })).toEqual({ agent_id: held, deleted: true })
    expect([held, away].map((id) => existsSync(folderOf('first', id)))).toEqual([false, true])
    expect(existsSync(join(outside, 'kept'))).toBe(true)
    first.kill('SIGTERM')
    await first.exited
    await bench.gateway.call('agent.delete', { agent_id: away })
    expect(existsSync(folderOf('first', away))).toBe(true)
    const again = await bench.host('first')
    await expect.poll(() => existsSync(folderOf('first', away)), SLOW).toBe(false)
    expect(existsSync(folderOf('first', stays))).toBe(true)
    again.kill('SIGTERM')
    await again.exited
    // A host that is pointed at another installation leaves what is not of that one alone.
    await using other = await AgentBench.open({ secret: randomBytes(32) })
    const { token } = await other.gateway.call('token.create', { role: 'host', name: 'first' })
    const data = ['--data', join(bench.scratch.folder, 'first'), '--log', 'debug', '--json']
    const foreign = await bench.scratch.start(['host', '--url', other.gateway.url, ...data], {
      env: { PARLEY_HOST_TOKEN: token },
    })
    await expect.poll(() => foreign.err(), SLOW).toContain('another installation')
    expect(existsSync(folderOf('first', stays))).toBe(true)
  },
)
