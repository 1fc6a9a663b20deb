/**
 * What the owner and its spawner say to each other: one JSON object per line. No schema library here, because the
 * spawner loads this file and its size decides what every start of a process costs.
 */
export type SpawnerOrder =
  | {
      readonly op: 'start'
      readonly id: number
      readonly socket: string
      readonly command: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
      readonly cwd: string
      readonly groupOutlivesLeader: boolean
      readonly contained: boolean
    }
  | { readonly op: 'signal'; readonly id: number; readonly signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL' }
  /** Nobody waits for what is left of a group whose leader has ended: it is killed and forgotten. */
  | { readonly op: 'sweep'; readonly id: number }

export type SpawnerEvent =
  | { readonly event: 'ready' }
  | { readonly event: 'started'; readonly id: number; readonly pid: number; readonly bornAt: string | null }
  | { readonly event: 'failed'; readonly id: number; readonly reason: string; readonly message: string }
  | { readonly event: 'exited'; readonly id: number; readonly code: number | null; readonly signal: string | null }

/** One order or event at most; a spec that does not fit is refused before it is sent. */
export const LINE_BYTES = 2 * 1024 * 1024

/** A line of this wire. Both ends are ours and of one version, so only the outside of the shape is checked. */
export function parseOrder(line: string): SpawnerOrder {
  const value: unknown = JSON.parse(line)
  if (isOrder(value)) return value
  throw new TypeError('not an order')
}

export function parseEvent(line: string): SpawnerEvent {
  const value: unknown = JSON.parse(line)
  if (isEvent(value)) return value
  throw new TypeError('not an event')
}

const OPS: ReadonlySet<unknown> = new Set(['start', 'signal', 'sweep'])

function isOrder(value: unknown): value is SpawnerOrder {
  return typeof value === 'object' && value !== null && 'op' in value && OPS.has(value.op)
}

function isEvent(value: unknown): value is SpawnerEvent {
  return typeof value === 'object' && value !== null && 'event' in value && typeof value.event === 'string'
}

/** Cuts chunks into lines. Answers false, once and for all, when a line grows past the bound. */
export function lineSplitter(onLine: (line: string) => void): (chunk: Buffer) => boolean {
  let kept: Buffer[] = []
  let keptBytes = 0
  return (chunk) => {
    let rest = chunk
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      kept.push(rest.subarray(0, end))
      onLine(Buffer.concat(kept).toString('utf8'))
      kept = []
      keptBytes = 0
      rest = rest.subarray(end + 1)
    }
    kept.push(rest)
    keptBytes += rest.length
    return keptBytes <= LINE_BYTES
  }
}
