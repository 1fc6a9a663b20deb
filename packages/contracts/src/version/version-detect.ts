import { messageOf, within } from '@parley/protocol/wire'
import { type VersionSupport, supportOf } from './version-support.ts'

/** `codex --version` starts a binary of a hundred megabytes and more; on a cold disk that takes its time. */
const DETECT_MS = 10_000
/** Codexes that are remembered at once. */
const REMEMBERED_MAX = 64

/**
 * What tells one Codex file from another at the same path. The inode and the change time belong to it because packages
 * carry their own modification times: the script of two releases can have the same time and size.
 */
export interface CodexFile {
  readonly path: string
  readonly mtimeMs: number
  readonly ctimeMs: number
  readonly sizeBytes: number
  readonly inode: number
}

/** Runs the Codex command with these arguments, without a shell. May reject; the signal fires when nobody waits any more. */
export type RunCodex = (
  args: readonly string[],
  signal: AbortSignal,
) => Promise<{ readonly stdout: string; readonly stderr?: string; readonly code?: number | null }>

export interface DetectOptions {
  readonly run: RunCodex
  /** Left out: nothing is remembered. */
  readonly file?: CodexFile
  /** A version that is taken instead of asking. */
  readonly override?: string
  readonly timeoutMs?: number
}

/** What was found: a version to be judged, or why there is none. */
export type Detected = VersionSupport | { readonly kind: 'failed'; readonly message: string }

/** Asks Codexes for their versions and remembers the answers as long as their files stay the same. */
export class VersionDetector {
  readonly #remembered = new Map<string, Promise<Detected>>()

  detect(options: DetectOptions): Promise<Detected> {
    if (options.override !== undefined) return Promise.resolve(supportOf(options.override))
    if (options.file === undefined) return ask(options)
    const { path, mtimeMs, ctimeMs, sizeBytes, inode } = options.file
    const key = JSON.stringify([path, mtimeMs, ctimeMs, sizeBytes, inode])
    const before = this.#remembered.get(key)
    if (before !== undefined) return before
    const found = ask(options)
    const [oldest] = this.#remembered.keys()
    if (this.#remembered.size >= REMEMBERED_MAX && oldest !== undefined) this.#remembered.delete(oldest)
    this.#remembered.set(key, found)
    // A Codex that could not be asked now may answer the next time.
    void found.then(({ kind }) => (kind === 'failed' ? this.#remembered.delete(key) : undefined))
    return found
  }
}

const detector = new VersionDetector()

/** Asks once for each Codex file in the life of this process. Never rejects. */
export function detectVersion(run: RunCodex, options: Omit<DetectOptions, 'run'> = {}): Promise<Detected> {
  return detector.detect({ run, ...options })
}

async function ask({ run, timeoutMs = DETECT_MS }: DetectOptions): Promise<Detected> {
  const stop = new AbortController()
  const detected = await within(answer(run, stop.signal), timeoutMs)
  if (detected !== undefined) return detected
  stop.abort()
  return { kind: 'failed', message: `codex --version said nothing in ${timeoutMs} ms` }
}

async function answer(run: RunCodex, signal: AbortSignal): Promise<Detected> {
  try {
    const { stdout, stderr = '', code = 0 } = await run(['--version'], signal)
    const found = supportOf(stdout)
    if (found.kind !== 'unreadable') return found
    const said = `${stdout}\n${stderr}`.trim().split('\n')[0] ?? ''
    return { kind: 'failed', message: `codex --version ended with ${code} and said ${JSON.stringify(said.slice(0, 120))}` }
  } catch (error) {
    return { kind: 'failed', message: `codex --version: ${messageOf(error)}` }
  }
}
