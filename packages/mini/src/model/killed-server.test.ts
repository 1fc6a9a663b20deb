import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { type Answer, MODEL_SERVER_MAIN } from '@parley/agent/testing/model-server'
import type { ModelWire } from '@parley/protocol'
import { openHttpFetcher } from '@parley/fetch'
import { expect, test } from 'vitest'
import { REQUEST } from './fixture/open-asker.ts'
import type { ModelAnswer, ModelListener } from './model.ts'
import { openModelClient } from './model-client.ts'

async function start(options: {
  wire: ModelWire
  port?: number
  answers: readonly Answer[]
}): Promise<{ child: ChildProcess; url: string; port: number }> {
  const child = spawn(process.execPath, [MODEL_SERVER_MAIN, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const line = await once(createInterface({ input: child.stdout }), 'line')
  const ready: unknown = JSON.parse(String(line[0]))
  if (typeof ready !== 'object' || ready === null || !('url' in ready) || !('port' in ready)) throw new Error('not ready')
  return { child, url: String(ready.url), port: Number(ready.port) }
}

test.each(['responses', 'chat'] as const)(
  '%s: a server that is killed in the middle of an answer and comes back is answered from',
  async (wire) => {
    const answers = [{ pieces: [{ text: 'All of it' }] }]
    const slow = await start({
      wire,
      answers: [{ pieces: [{ text: 'All of it' }], manner: { deltaCharacters: 1, pauseMs: 20 } }],
    })
    const http = openHttpFetcher({ connectMs: 5_000, connections: 2 })
    const endpoint = { wire, baseUrl: slow.url, apiKey: null }
    const random = (size: number): Uint8Array => new Uint8Array(size)
    const limits = { firstWaitMs: 20, longestWaitMs: 50, attempts: 500 }
    const client = openModelClient({ endpoint, http, now: Date.now, random, limits })
    let back: Promise<{ child: ChildProcess }> | undefined
    const usages: boolean[] = []
    const listener: ModelListener = {
      messageDelta: () => {
        if (back !== undefined) return
        slow.child.kill('SIGKILL')
        back = once(slow.child, 'exit').then(() => start({ wire, port: slow.port, answers }))
      },
      reasoningDelta: () => undefined,
      reasoningPart: () => undefined,
      retry: () => undefined,
      usage: (_call, _usage, estimated) => usages.push(estimated),
      exchanged: () => undefined,
    }
    const answer: ModelAnswer = await client.sample(REQUEST, listener, new AbortController().signal)
    expect(answer).toMatchObject({ kind: 'answered', items: [{ content: [{ text: 'All of it' }] }] })
    expect(usages).toEqual([true, false])
    const child = (await back)?.child
    await http.close()
    child?.kill()
    if (child !== undefined) expect(await once(child, 'exit')).toEqual([0, null])
  },
)
