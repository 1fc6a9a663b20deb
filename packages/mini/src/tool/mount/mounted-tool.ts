import { type JsonObject, messageOf } from '@parley/protocol/wire'
import { ENGINE_CALL_META } from '@parley/agent'
import { WireError } from '@parley/rpc'
import type { BoundTool, RunContext, ToolResult } from '../toolbox.ts'
import { TOOL_BOUNDS } from '../bounds.ts'
import { cutText, headOf } from '../cut.ts'
import { failed } from '../result.ts'
import { mountedSchema } from '../schema/mounted-schema.ts'
import type { MountLink } from './mount-link.ts'
import { mountedResult } from './mounted-result.ts'

export interface MountedToolParts {
  readonly link: MountLink
  /** As the server listed it. */
  readonly listed: JsonObject
  readonly tool: string
  /** As the model sees it. */
  readonly name: string
  readonly toolMs: number
  readonly resultBytes: number
  readonly warn: (message: string) => void
}

/** Binds a tool of a mounted server. The server checks the arguments itself. */
export function mountedTool({ link, listed, tool, name, toolMs, resultBytes, warn }: MountedToolParts): BoundTool {
  const mount = link.spec.name
  const { parameters, strict, replaced } = mountedSchema(listed['inputSchema'])
  if (replaced !== null) warn(`the schema of ${tool} of the mount ${mount} is replaced by one that takes anything: ${replaced}`)
  const description = typeof listed['description'] === 'string' ? listed['description'] : ''
  const timeoutMs = link.spec.toolTimeoutMs ?? toolMs
  return {
    spec: { name, description: cutText(description, TOOL_BOUNDS.descriptionBytes), parameters, strict },
    mount,
    tool,
    subject: () => ({ kind: 'tool' }),
    run: async (args, context) => {
      context.signal.throwIfAborted()
      try {
        return mountedResult(await call(link, tool, args, context, timeoutMs), resultBytes)
      } catch (error) {
        if (context.signal.aborted) throw error
        return gone(mount, error, timeoutMs, resultBytes)
      }
    },
  }
}

async function call(
  link: MountLink,
  tool: string,
  args: JsonObject,
  { call: id, emit, signal }: RunContext,
  timeoutMs: number,
): Promise<JsonObject> {
  const client = await link.client()
  let events = 0
  // A server of our own process learns which call this is; nobody else needs to.
  const meta = link.spec.server.kind === 'linked' ? { _meta: { [ENGINE_CALL_META]: id } } : {}
  return client.request(
    'tools/call',
    { name: tool, arguments: args, ...meta },
    {
      signal,
      timeoutMs,
      onProgress: ({ progress, total, message }) => {
        if (++events > TOOL_BOUNDS.progressEvents) return
        const text = message ?? (total === undefined ? `${progress}` : `${progress} of ${total}`)
        emit({ type: 'tool_output', call: id, text: headOf(text.replaceAll('\0', ''), TOOL_BOUNDS.lineBytes) })
      },
    },
  )
}

/** When a server dies, hangs or breaks the rules, the model reads so as the result of its call, and the turn goes on. */
function gone(mount: string, error: unknown, timeoutMs: number, resultBytes: number): ToolResult {
  const code = error instanceof WireError ? error.code : undefined
  const why =
    code === 'timeout'
      ? `did not answer within ${timeoutMs} ms and was told to stop`
      : code === 'closed' || code === 'stream_lost'
        ? `went away during the call, which may or may not have been done: ${messageOf(error)}`
        : `failed: ${messageOf(error)}`
  return failed(cutText(`ERROR\nthe server ${mount} ${why}`.replaceAll('\0', ''), resultBytes))
}
