// The own engine on the same model: its loop, a mounted tool, its transcript on disk.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openHttpFetcher } from '@parley/fetch'
import { Asked, PROMPT, SAID, measure } from './asked.ts'
import { conversationOptions, openEngine } from './open-engine.ts'

const asked = Asked.parse(JSON.parse(process.argv[2] ?? 'null'))
const folder = mkdtempSync(join(tmpdir(), 'parley-bench-engine-'))
const http = openHttpFetcher({ connectMs: 5_000, connections: asked.conversations })
const engine = openEngine({ url: asked.url, folder, http })

await measure(asked, async () => {
  const listener = { event: () => {}, approve: () => Promise.resolve('denied' as const) }
  const conversation = await engine.open(conversationOptions(folder), listener)
  return async () => {
    const end = await conversation.submit({ input: [{ type: 'text', text: PROMPT }] }).ended
    if (end.kind !== 'completed' || end.message !== SAID) throw new Error(`a turn went wrong: ${JSON.stringify(end)}`)
  }
})
await engine.close()
await http.close()
rmSync(folder, { recursive: true, force: true })
