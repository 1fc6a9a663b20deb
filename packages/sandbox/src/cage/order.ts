import type { Buffer } from 'node:buffer'
import { DEFAULT_CAPTURE_BYTES, DEFAULT_ENVIRONMENT, signalName } from '../defaults.ts'
import type { RunOutcome, RunRequest, RunStatus } from '../sandbox.ts'
import { FRAME, FrameReader, FrameWriter, type Frame } from './frame.ts'

const INPUT = { empty: 0, bytes: 1, file: 2, joined: 3, steady: 4 } as const
const EXECUTABLE = 1
const BYTES = 2
const NO_BYTES = new Uint8Array(0)
/** Why a run ended, in the helper's order. */
const WHY: readonly (RunStatus | 'aborted' | null)[] = [
  null,
  'cpu-limit',
  'wall-limit',
  'memory-limit',
  'output-limit',
  'process-limit',
  'aborted',
  'sandbox-error',
]

/**
 * What the streams of a run are tied to: its own files and buffers, or another box. `steady`: another box, whose end breaks no pipe
 * of this one.
 */
export type Streams = 'own' | 'joined' | 'steady'

/** A request as the helper reads it. */
export function encodeOrder(request: RunRequest, streams: Streams): Buffer {
  const { limits } = request
  const capture = request.captureBytes ?? { stdout: DEFAULT_CAPTURE_BYTES, stderr: DEFAULT_CAPTURE_BYTES }
  const order = new FrameWriter()
    .u64(Math.round(limits.cpuMs * 1000))
    .u64(Math.round(limits.wallMs * 1000))
    .u64(Math.round((limits.starvedWallMs ?? limits.wallMs) * 1000))
    .u64(limits.memoryBytes)
    .u64(limits.outputBytes)
    .u64(limits.boxBytes)
    .u32(limits.processes)
    .u32(limits.openFiles)
    .u64(Math.min(capture.stdout, limits.outputBytes))
    .u64(Math.min(capture.stderr, limits.outputBytes))
    .u32(request.onOutput === undefined ? 0 : 1)
  const files = request.files ?? []
  order.u32(files.length)
  for (const { name, from, executable } of files) {
    order.string(name).u32((executable === true ? EXECUTABLE : 0) | ('bytes' in from ? BYTES : 0))
    if ('bytes' in from) order.bytes(from.bytes)
    else order.string(from.path)
  }
  order.strings(request.readable ?? []).strings(request.argv)
  order.strings(Object.entries(request.environment ?? DEFAULT_ENVIRONMENT).map(([name, value]) => `${name}=${value}`))
  encodeInput(order, request, streams)
  const keep = request.keep ?? []
  order.u32(keep.length)
  for (const { name, to, limitBytes } of keep) order.string(name).string(to).u64(limitBytes)
  return order.finish(FRAME.run)
}

function encodeInput(order: FrameWriter, { stdin }: RunRequest, streams: Streams): void {
  if (streams !== 'own') order.u32(INPUT[streams]).bytes(NO_BYTES)
  else if (stdin === undefined || stdin.kind === 'empty') order.u32(INPUT.empty).bytes(NO_BYTES)
  else if (stdin.kind === 'bytes') order.u32(INPUT.bytes).bytes(stdin.bytes)
  else order.u32(INPUT.file).string(stdin.path)
}

/** An outcome, and when by the machine's clock it came, to tell which of two runs ended first. */
export interface TimedOutcome {
  readonly outcome: RunOutcome
  readonly endedAtNs: number
}

/** A piece of what a run says, told while it runs. */
export function tellOutput(frame: Frame, { onOutput }: RunRequest): void {
  const from = new FrameReader(frame.payload)
  onOutput?.(from.u32() === 1 ? 'stdout' : 'stderr', from.rest())
}

/** What the helper answered to an order. */
export function decodeOutcome(frame: Frame, request: RunRequest): TimedOutcome {
  const from = new FrameReader(frame.payload)
  const why = WHY[from.u32()] ?? null
  const wait = from.u32()
  const started = from.u32() === 1
  const isStarvedKnown = from.u32() === 1
  const [cpuUs, wallUs, starvedUs, memoryBytes, endedAtNs] = [from.u64(), from.u64(), from.u64(), from.u64(), from.u64()]
  const [outTotal, errTotal] = [from.u64(), from.u64()]
  const [outLength, errLength, keptCount, messageLength] = [from.u32(), from.u32(), from.u32(), from.u32()]
  const kept = from.bytes(keptCount)
  const stdout = { bytes: from.bytes(outLength), totalBytes: outTotal }
  const stderr = { bytes: from.bytes(errLength), totalBytes: errTotal }
  const message = from.bytes(messageLength).toString()
  const { signal, exitCode } = endOf(why, started, wait)
  const outcome: RunOutcome = {
    status: statusOf(why, signal, exitCode),
    exitCode,
    signal,
    cpuMs: cpuUs / 1000,
    wallMs: wallUs / 1000,
    starvedMs: isStarvedKnown ? starvedUs / 1000 : null,
    memoryBytes,
    stdout,
    stderr,
    kept: (request.keep ?? []).filter((_, index) => kept[index] === 1).map(({ name }) => name),
    message: message === '' ? null : message,
  }
  return { outcome, endedAtNs }
}

/**
 * How the first process ended. Where a limit ended the run it was about to be killed: whether it came to end by itself before that,
 * because a child of its own was killed first, is chance and says nothing about the program.
 */
function endOf(
  why: RunStatus | 'aborted' | null,
  started: boolean,
  wait: number,
): { readonly signal: string | null; readonly exitCode: number | null } {
  if (why === 'aborted' || (started && why !== null && why !== 'sandbox-error')) return { signal: 'SIGKILL', exitCode: null }
  if (!started || why === 'sandbox-error') return { signal: null, exitCode: null }
  const number = wait & 0x7f
  return number === 0 ? { signal: null, exitCode: (wait >> 8) & 0xff } : { signal: signalName(number), exitCode: null }
}

/** A signal by itself never means a limit: anybody can send it to himself. */
function statusOf(why: RunStatus | 'aborted' | null, signal: string | null, exitCode: number | null): RunStatus {
  if (why === 'aborted') return 'signal'
  if (why !== null) return why
  if (signal !== null) return 'signal'
  return exitCode === 0 ? 'ok' : 'nonzero'
}
