import { execFile, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readSection } from '../../../../scripts/testing/guide.ts'
import { AgentBench, stdio } from '../fixture/agent-bench.ts'
import { MANY_PROCESSES } from '../fixture/parley.ts'

const GUIDE = readFileSync(join(import.meta.dirname, '../../../../CONTRIBUTING.md'), 'utf8')
const HEADING = 'Debug a connection'
const ADDRESS = 'http://127.0.0.1:7400'
const LATE = { timeout: 60_000 }
const hasCurl = (): boolean => spawnSync('curl', ['--version']).status === 0

/** The commands that the section names in its sentences. */
const NAMED = [...(GUIDE.split(`## ${HEADING}\n`)[1] ?? '').matchAll(/`((?:curl|bin\/parley) [^`…]+)`/g)].map(
  ([, command = '']) => command.replaceAll(/\s+/g, ' '),
)
/** The one that stands in a block of its own. */
const BY_HAND = readSection(GUIDE, HEADING)
  .flatMap((act) => (act.kind === 'run' ? [act.command] : []))
  .join('\n')

test.skipIf(!hasCurl())(
  '"Debug a connection" works as it is written, for a person and for an agent',
  MANY_PROCESSES,
  async () => {
    await using bench = await AgentBench.open()
    await bench.host('one')
    const agent_id = await bench.agent('mine', { files: stdio() })
    const { token: person } = await bench.gateway.call('token.create', { role: 'user', username: 'admin' })
    const agent = await bench.token(agent_id)
    const { scratch, gateway } = bench

    /** Runs it as a reader would who put in their own. */
    const run = (command: string, token: string): Promise<{ readonly code: number; readonly out: string }> => {
      writeFileSync(join(scratch.folder, 'FILE'), token, { mode: 0o600 })
      const line = command.replaceAll(ADDRESS, gateway.url).replaceAll('AGENT', 'mine').replaceAll('bin/parley', 'parley')
      const env = { ...scratch.launch([]).env, PARLEY_DATA_DIR: scratch.data, TOKEN: token }
      return new Promise((resolve) => {
        execFile('sh', ['-c', line], { cwd: scratch.folder, env }, (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code), out: `${stdout}${stderr}` }),
        )
      })
    }
    const named = (words: string): string => {
      const [found, ...more] = NAMED.filter((command) => command.includes(words))
      if (found === undefined || more.length > 0) throw new Error(`the section names ${words} ${more.length + 1} times or not`)
      return found
    }

    const toolsOf = async (token: string): Promise<string[]> => {
      const { out } = await run(BY_HAND, token)
      return JSON.parse(out).result.tools.map(({ name }: { name: string }) => name)
    }
    expect((await run(named('/healthz'), person)).out).toMatch(/^HTTP\/1\.1 200 /)
    expect(await toolsOf(person)).toEqual(expect.arrayContaining(['agent.create', 'account.get']))
    // A mount that is still starting is left out of a list after a while.
    await expect.poll(() => toolsOf(agent), LATE).toEqual(expect.arrayContaining(['chat_post', expect.stringMatching(/^files_/)]))
    for (const [token, last] of [
      [person, 're-read'],
      [agent, 'mounts'],
    ] as const) {
      const walked = await run(named('doctor --url'), token)
      expect(walked).toMatchObject({ code: 0, out: expect.stringMatching(new RegExp(`^\\S* *${last}\\b`, 'm')) })
    }
    expect(JSON.parse((await run(BY_HAND, 'pat_nobody')).out)).toMatchObject({ error: { code: 'unknown_token' } })
    expect((await run(named('host list'), person)).out).toMatch(/^one\b/m)
    await expect.poll(async () => (await run(named('mount list'), person)).out, LATE).toMatch(/^files +.*active/m)
  },
)
