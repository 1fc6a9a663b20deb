import { readFileSync } from 'node:fs'
import { type Answer, openModelServer } from '@parley/agent/testing/model-server'
import { ownLoopback } from '@parley/store/testing'
import { expect, test } from 'vitest'
import { gone } from '../fixture/gone.ts'
import { childrenOf, MANY_PROCESSES, Scratch } from '../fixture/parley.ts'
import { commandsHere } from '../fixture/run-here.ts'
import { say, shell } from '../fixture/turn-bench.ts'

const SLOW = { timeout: 60_000 }

test(
  'kill -9 of the gateway in the middle of a turn: the host goes on, and the turn ends as it would have',
  MANY_PROCESSES,
  async () => {
    await using scratch = new Scratch()
    const steps: Answer[] = [shell('echo one >> file'), { silent: true }, say('Both done.')]
    await using model = await openModelServer({ wire: 'responses', answers: () => steps.shift() ?? say('nothing is left') })
    scratch.settings('[gate]\ndefault = "allow"\n')
    const start = ['up', '--no-judge', '--host', ownLoopback(), '--port', '0', '--data', scratch.data, '--json']
    const up = await scratch.start(start, {
      env: { PARLEY_MODEL_BASE_URL: model.url, PARLEY_MODEL_API_KEY: 'sk-upstream', PARLEY_MODELS: 'm' },
    })
    await expect.poll(() => up.err(), SLOW).toMatch(/The host \S+ is ready/)
    const { json } = commandsHere(scratch)
    const at = ['--data', scratch.data]
    await json(['agent', 'create', 'mine', '--kind', 'local', '--model', 'm', ...at])
    await json(['agent', 'prompt', 'mine', 'do both', ...at])
    await model.arrived(2)
    const gateway = childrenOf(up.pid).find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('gateway-main')) ?? 0
    process.kill(gateway, 'SIGKILL')
    await gone(gateway)
    const newest = async () => (await json(['agent', 'prompts', 'mine', ...at]).catch(() => ({ items: [] }))).items[0]
    await expect.poll(newest, { timeout: 90_000 }).toMatchObject({ status: 'completed', outcome: { message: 'Both done.' } })
    const shown = await commandsHere(scratch).run(['agent', 'transcript', 'mine', ...at])
    expect(shown.out.match(/\$ echo one >> file/g)).toHaveLength(1)
    expect(model.requests.at(-1)?.body['instructions']).toBe(model.requests[0]?.body['instructions'])
    up.kill('SIGTERM')
    expect(await up.exited).toEqual({ code: 0, signal: null })
  },
)
