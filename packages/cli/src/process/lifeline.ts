import { asCommandError } from '@parley/command-line/wording'

/** What a process of `parley up` says to its supervisor, one JSON line. */
export type Word<Ready> =
  | { readonly ready: Ready }
  | { readonly failed: { readonly code: string; readonly message: string; readonly hint?: string } }

export interface Opened<Ready> {
  readonly ready: Ready
  close(): Promise<void>
}

const PLAN_BYTES = 1024 * 1024

/**
 * Lives on stdin and by nothing else: one line with the plan, then nothing, and when it ends, because the supervisor asks for
 * it or is dead, this process ends too, whether it is ready yet or not. If closing hangs, the process still ends after `lastResortMs`.
 */
export function liveOnStdin<Ready>(
  open: (plan: string, signal: AbortSignal) => Promise<Opened<Ready>>,
  lastResortMs: number,
): void {
  let opened: Opened<Ready> | undefined
  const ending = new AbortController()
  let plan = ''

  const say = (word: Word<Ready>): void => void process.stdout.write(`${JSON.stringify(word)}\n`)
  const end = async (): Promise<void> => {
    ending.abort()
    setTimeout(() => process.exit(1), lastResortMs).unref()
    const last = opened
    opened = undefined
    await last?.close()
    process.stdin.destroy()
  }
  const begin = async (): Promise<void> => {
    try {
      opened = await open(plan, ending.signal)
      const { ready } = opened
      if (ending.signal.aborted) return await end()
      say({ ready })
    } catch (error) {
      const { code, message, hint } = asCommandError(error)
      say({ failed: { code, message, ...(hint === undefined ? {} : { hint }) } })
      process.exitCode = 1
      process.stdin.destroy()
      setTimeout(() => process.exit(1), lastResortMs).unref()
    }
  }

  // Whoever read our output may be dead already; that is noticed by the end of stdin.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
  process.stdin.setEncoding('utf8')
  process.stdin.on('data', (text: string) => {
    if (plan.endsWith('\n')) return
    plan += text
    if (plan.endsWith('\n')) void begin()
    else if (plan.length > PLAN_BYTES) process.exit(1)
  })
  process.stdin.on('end', () => void end())
  // Whoever signals every process of a service, as systemd does, signals the supervisor too, and that ends us in our turn: a
  // gateway that went first would leave its judge with nobody to give its claims back to.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
}

/** `undefined` for a line that is something else. Both ends are of one version and trust each other. */
export function parseWord<Ready>(line: string, isReady: (value: unknown) => value is Ready): Word<Ready> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value !== 'object' || value === null) return undefined
    if ('ready' in value && isReady(value.ready)) return { ready: value.ready }
    return isFailure(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isFailure(value: object): value is Extract<Word<never>, { failed: object }> {
  return 'failed' in value && typeof value.failed === 'object' && value.failed !== null && 'message' in value.failed
}
