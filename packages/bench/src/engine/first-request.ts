import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type JsonObject, isJsonObject, parseJson } from '@parley/protocol'
import { HttpCallFailed, type HttpFetcher } from '@parley/fetch'
import { PROMPT } from './asked.ts'
import { conversationOptions, openEngine } from './open-engine.ts'

/** What the own engine asks a model first, so that a bare client can ask the very same: all its tools, every field. */
export async function firstRequest(): Promise<JsonObject> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-engine-'))
  const caught = Promise.withResolvers<JsonObject>()
  const http: HttpFetcher = {
    call({ body }) {
      const asked = typeof body === 'string' ? parseJson(body) : undefined
      if (isJsonObject(asked)) caught.resolve(asked)
      return Promise.reject(new HttpCallFailed('aborted', 'only what is asked matters'))
    },
    close: () => Promise.resolve(),
  }
  const engine = openEngine({ url: 'http://127.0.0.1', folder, http })
  try {
    const listener = { event: () => {}, approve: () => Promise.resolve('denied' as const) }
    const conversation = await engine.open(conversationOptions(folder), listener)
    const { ended } = conversation.submit({ input: [{ type: 'text', text: PROMPT }] })
    const failed = ended.then((end) => Promise.reject(new Error(`nothing was asked: ${JSON.stringify(end)}`)))
    return await Promise.race([caught.promise, failed])
  } finally {
    await engine.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
