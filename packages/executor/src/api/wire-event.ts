import type { JsonObject } from '@parley/protocol'
import { z } from 'zod'
import type { OutputChunk, OutputStream, ReadResult, SequencedEvent } from '../process/exec-process.ts'

const Seq = z.int().min(0)
const Stream = z.enum(['stdout', 'stderr', 'pty'])
const Chunk = z.object({ seq: Seq, stream: Stream, chunk: z.string() })

const OutputParams = Chunk.extend({ processId: z.string() })
const ExitedParams = z.object({ processId: z.string(), seq: Seq, exitCode: z.int() })
const ClosedParams = z.object({ processId: z.string(), seq: Seq })

/** An event as the text of a notification. Output is put together by hand: its letters need no escapes, and there is much of it. */
export function notificationText(processId: string, event: SequencedEvent): string {
  const { seq } = event
  const id = JSON.stringify(processId)
  switch (event.kind) {
    case 'output': {
      const chunk = event.bytes.toString('base64')
      return `{"method":"process/output","params":{"processId":${id},"seq":${seq},"stream":"${event.stream}","chunk":"${chunk}"}}`
    }
    case 'exited':
      return `{"method":"process/exited","params":{"processId":${id},"seq":${seq},"exitCode":${event.exitCode},"sandboxDenied":false}}`
    case 'closed':
      return `{"method":"process/closed","params":{"processId":${id},"seq":${seq}}}`
  }
}

const OUTPUT = '{"method":"process/output","params":{"processId":"'
const SEQ = '","seq":'
const STREAM = ',"stream":"'
const CHUNK = '","chunk":"'
const END = '"}}'

/**
 * Output in the one layout that exec-servers write, taken apart without parsing: it is most of what comes, and all of it is one long text. Any
 * other layout is undefined, and parsed.
 */
export function outputIn(text: string): { readonly processId: string; readonly event: SequencedEvent } | undefined {
  if (!text.startsWith(OUTPUT)) return undefined
  const seqAt = text.indexOf(SEQ, OUTPUT.length)
  const streamAt = text.indexOf(STREAM, seqAt)
  const chunkAt = text.indexOf(CHUNK, streamAt)
  if (seqAt < 0 || streamAt < 0 || chunkAt < 0) return undefined
  const processId = text.slice(OUTPUT.length, seqAt)
  const seq = Number(text.slice(seqAt + SEQ.length, streamAt))
  const stream = text.slice(streamAt + STREAM.length, chunkAt)
  const start = chunkAt + CHUNK.length
  const isPlain = !processId.includes('\\') && !processId.includes('"') && text.indexOf('"', start) === text.length - END.length
  if (!isPlain || !text.endsWith(END) || !Number.isSafeInteger(seq) || !isStream(stream)) return undefined
  return { processId, event: { kind: 'output', seq, stream, bytes: Buffer.from(text.slice(start, -END.length), 'base64') } }
}

function isStream(name: string): name is OutputStream {
  return name === 'stdout' || name === 'stderr' || name === 'pty'
}

/** What a notification says; `undefined` for one that is none of these or has another shape. */
export function eventOf(
  method: string,
  params: unknown,
): { readonly processId: string; readonly event: SequencedEvent } | undefined {
  switch (method) {
    case 'process/output': {
      const { data } = OutputParams.safeParse(params)
      return data && { processId: data.processId, event: { kind: 'output', ...chunkOf(data) } }
    }
    case 'process/exited': {
      const { data } = ExitedParams.safeParse(params)
      return data && { processId: data.processId, event: { kind: 'exited', seq: data.seq, exitCode: data.exitCode } }
    }
    case 'process/closed': {
      const { data } = ClosedParams.safeParse(params)
      return data && { processId: data.processId, event: { kind: 'closed', seq: data.seq } }
    }
    default:
      return undefined
  }
}

/** The answer to `process/read`. `truncated` and `firstSeq` are ours: the real one leaves out what it lost without a word. */
export const ReadAnswer = z.object({
  chunks: z.array(Chunk),
  nextSeq: Seq,
  exited: z.boolean(),
  exitCode: z.int().nullable(),
  closed: z.boolean(),
  failure: z.string().nullable(),
  truncated: z.boolean().optional(),
  firstSeq: Seq.optional(),
})

export function readAnswerOf(result: ReadResult): JsonObject {
  return {
    chunks: result.chunks.map(({ seq, stream, bytes }) => ({ seq, stream, chunk: bytes.toString('base64') })),
    nextSeq: result.nextSeq,
    exited: result.exited,
    exitCode: result.exitCode,
    closed: result.closed,
    failure: result.failure,
    sandboxDenied: false,
    ...(result.truncated ? { truncated: true, firstSeq: result.firstSeq } : {}),
  }
}

export function readResultOf(answer: z.infer<typeof ReadAnswer>): ReadResult {
  const chunks = answer.chunks.map(chunkOf)
  return {
    ...answer,
    chunks,
    truncated: answer.truncated ?? false,
    firstSeq: answer.firstSeq ?? chunks[0]?.seq ?? answer.nextSeq,
  }
}

function chunkOf({ seq, stream, chunk }: z.infer<typeof Chunk>): OutputChunk {
  return { seq, stream, bytes: Buffer.from(chunk, 'base64') }
}
