import * as z from 'zod'
import { treeUse } from '../measure/process-tree.ts'
import { type StdioCommand, type StdioPeer, startPeer } from './stdio-peer.ts'

/** What one long answer of a model took to come through. */
export interface EventsFound {
  /** Lines that were not the answer. */
  readonly events: number
  /** Pieces of text among them. */
  readonly deltas: number
  readonly ms: number
  readonly cpuMs: number
}

const SERVER_CORE = 1
const CLIENT = { name: 'bench', title: 'Bench', version: '1' }
const Called = z.object({
  result: z.object({ isError: z.boolean().optional(), structuredContent: z.object({ threadId: z.string() }) }),
})
const Thread = z.object({ result: z.object({ thread: z.object({ id: z.string() }) }) })

/** Through `tools/call` of an MCP server: one short turn to warm up, then the long one. */
export async function throughMcp(target: StdioCommand, delta: string): Promise<EventsFound> {
  await using peer = await startPeer({ ...target, core: SERVER_CORE })
  peer.send({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: CLIENT },
  })
  await peer.answer(1)
  peer.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  const call = async (id: number, name: string, settings: object, event?: (line: string) => void): Promise<string> => {
    peer.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: settings } })
    const answer = await peer.answer(id, event)
    const done = Called.safeParse(answer)
    if (!done.success || done.data.result.isError === true) throw new Error(`the call failed: ${JSON.stringify(answer)}`)
    return done.data.result.structuredContent.threadId
  }
  const settings = { 'approval-policy': 'never', sandbox: 'read-only', model: 'gpt-5' }
  const threadId = await call(2, 'codex', { prompt: 'short', ...settings })
  return await counted(peer, delta, async (event) => void (await call(3, 'codex-reply', { prompt: 'long', threadId }, event)))
}

/** Through the app-server of the Codex that the bridge stands on, without the bridge. */
export async function throughAppServer(target: StdioCommand, delta: string): Promise<EventsFound> {
  await using peer = await startPeer({ ...target, core: SERVER_CORE })
  let last = 0
  const ask = (method: string, params: object): Promise<Record<string, unknown>> => {
    last += 1
    peer.send({ id: last, method, params })
    return peer.answer(last)
  }
  await ask('initialize', { clientInfo: CLIENT })
  peer.send({ method: 'initialized' })
  const settings = { cwd: target.cwd, approvalPolicy: 'never', sandbox: 'read-only', model: 'gpt-5' }
  const opened = Thread.parse(await ask('thread/start', settings))
  const turn = async (text: string, event: (line: string) => void = () => undefined): Promise<void> => {
    last += 1
    const id = last
    const ended = Promise.withResolvers<void>()
    const hear = (line: string): void => {
      event(line)
      if (line.includes('"turn/completed"')) ended.resolve()
    }
    peer.send({ id, method: 'turn/start', params: { threadId: opened.result.thread.id, input: [{ type: 'text', text }] } })
    await peer.answer(id, hear)
    // An answer that nobody will give keeps listening.
    void peer.answer(-1, hear).catch(() => undefined)
    await ended.promise
  }
  await turn('short')
  return await counted(peer, delta, (event) => turn('long', event))
}

async function counted(
  peer: StdioPeer,
  delta: string,
  act: (event: (line: string) => void) => Promise<void>,
): Promise<EventsFound> {
  let events = 0
  let deltas = 0
  const before = await treeUse(peer.pid)
  const started = performance.now()
  await act((line) => {
    events += 1
    if (line.includes(delta)) deltas += 1
  })
  const ms = performance.now() - started
  const after = await treeUse(peer.pid)
  return { events, deltas, ms, cpuMs: after.cpuMs - before.cpuMs }
}
