import { messageOf } from '@parley/protocol/wire'
import { BackendError } from '../port/backend-error.ts'
import { type DialectName, chooseDialect, loadDialect } from './choose-dialect.ts'
import type { TalkSink } from './dialect.ts'
import { CodexNotUp, type LiveCodex, type StartOptions, startCodex } from './live-codex.ts'
import { versionOf } from './version-of.ts'

export interface SupervisorOptions extends StartOptions {
  readonly version: string | undefined
  readonly now: () => number
}

/** A Codex that runs, and which start it was: what an earlier process had open is not open in a later one. */
export interface Running extends LiveCodex {
  readonly epoch: number
  readonly dialect: DialectName
  readonly version: string
}

/**
 * Keeps one Codex running: starts it, starts it again when it is lost, and gives up after too many losses in too short
 * a time. After that every further request tries anew once the window has passed.
 */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #sink: TalkSink
  /** Told when a process is lost, before another is started. */
  readonly #lost: (reason: string) => void
  #tries: readonly DialectName[]
  #current: Promise<Running> | undefined
  #latest: Running | undefined
  #epoch = 0
  #losses: number[] = []
  #closed = false
  #wake: (() => void) | undefined
  readonly #stopping = new Set<Promise<void>>()
  /** Those that were replaced: their end is no loss. */
  readonly #retired = new WeakSet<Running>()
  /** What the next start waits for: two processes must not hold the same threads. */
  #retiring: Promise<void> = Promise.resolve()

  constructor(options: SupervisorOptions, sink: TalkSink, lost: (reason: string) => void) {
    this.#options = options
    this.#sink = sink
    this.#lost = lost
    const { tries, warning } = chooseDialect(options.version)
    this.#tries = tries
    if (warning !== null) options.warn(warning)
  }

  /** The Codex that runs, once it does; one that is just going down is waited for. Throws `BackendError` `lost` or `failed`. */
  async running(): Promise<Running> {
    if (this.#closed) throw new BackendError('lost', 'the bridge to Codex is closed')
    const running = await this.#startedOnce()
    if (running.isUp()) return running
    await running.gone
    return this.running()
  }

  #startedOnce(): Promise<Running> {
    if (this.#current === undefined) {
      const starting = this.#start()
      this.#current = starting
      // One that did not come up must not keep the next request from trying.
      starting.catch(() => {
        if (this.#current === starting) this.#current = undefined
      })
    }
    return this.#current
  }

  /** Ends a process that runs nothing. The next request starts another one. */
  retire(running: Running): void {
    if (this.#closed || this.#latest !== running || !running.isUp()) return
    this.#retired.add(running)
    this.#current = undefined
    const settled = running.talk.settled?.() ?? Promise.resolve()
    this.#retiring = settled.catch(() => undefined).then(() => this.#stop(running))
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#wake?.()
    await this.#retiring
    const running = await this.#current?.catch(() => undefined)
    await running?.talk.settled?.()
    if (running !== undefined) void this.#stop(running)
    await Promise.all(this.#stopping)
  }

  #stop(live: LiveCodex): Promise<void> {
    const stopping = live.stop(this.#options.limits.stopGraceMs).finally(() => this.#stopping.delete(stopping))
    this.#stopping.add(stopping)
    return stopping
  }

  async #start(): Promise<Running> {
    await this.#retiring
    for (;;) {
      await this.#backOff()
      if (this.#closed) throw new BackendError('lost', 'the bridge to Codex is closed')
      try {
        return await this.#startOnce()
      } catch (error) {
        if (!(error instanceof CodexNotUp))
          throw new BackendError('failed', `Codex cannot be started: ${messageOf(error)}`, { cause: error })
        if (error.why !== 'died') throw new BackendError('failed', error.message, { cause: error })
        this.#losses.push(this.#options.now())
        this.#options.warn(error.message)
      }
    }
  }

  /** Waits the longer the more often it was lost lately. Throws when that was too often. */
  async #backOff(): Promise<void> {
    const { limits, now } = this.#options
    this.#losses = this.#losses.filter((at) => now() - at < limits.restartWindowMs)
    const losses = this.#losses.length
    if (losses === 0) return
    if (losses > limits.restarts) {
      const words = `Codex was lost ${losses} times within ${Math.round(limits.restartWindowMs / 1000)} s and is not started again`
      throw new BackendError('lost', words)
    }
    const waitMs = Math.min(limits.backoffMs * 2 ** (losses - 1), limits.backoffMaxMs)
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async #startOnce(): Promise<Running> {
    const tries = [...this.#tries]
    let failure: CodexNotUp | undefined
    for (const name of tries) {
      if (this.#closed) break
      try {
        const live = await startCodex(await loadDialect(name), this.#sink, this.#options)
        const spoken = spokenBy(live)
        if (spoken === undefined || spoken === name) return this.#adopt(live, name)
        await this.#stop(live)
        failure ??= new CodexNotUp(`Codex does not speak ${name}: it calls itself ${live.talk.userAgent}`, 'foreign')
        if (!tries.includes(spoken)) tries.push(spoken)
      } catch (error) {
        if (!(error instanceof CodexNotUp) || error.why !== 'foreign') throw error
        failure ??= error
      }
    }
    throw failure ?? new CodexNotUp('there is no dialect to try', 'foreign')
  }

  #adopt(live: LiveCodex, dialect: DialectName): Running {
    this.#epoch += 1
    // What was found by probing needs no probing the next time.
    this.#tries = [dialect]
    const version = versionOf(live.talk.userAgent) ?? this.#options.version ?? 'unknown'
    const running: Running = { ...live, epoch: this.#epoch, dialect, version }
    this.#latest = running
    void live.gone.then((reason) => this.#onGone(running, reason))
    return running
  }

  #onGone(running: Running, reason: string): void {
    // Whatever of it is left, for one a program behind a wrapper, must go as well.
    void this.#stop(running)
    if (this.#closed || this.#retired.has(running)) return
    this.#losses.push(this.#options.now())
    this.#current = undefined
    this.#options.warn(`Codex was lost: ${reason}`)
    this.#lost(reason)
    this.running().catch((error: unknown) => this.#options.warn(messageOf(error)))
  }
}

/** Some greetings are the same in two dialects; what Codex calls itself tells them apart. */
function spokenBy({ talk }: LiveCodex): DialectName | undefined {
  const version = versionOf(talk.userAgent)
  return version === undefined ? undefined : chooseDialect(version).tries[0]
}
