import type { Readable, Writable } from 'node:stream'
import { InputLine } from './input-line.ts'
import { OutputLog } from '../process/output-log.ts'
import type {
  ExecProcess,
  ExecSignal,
  OutputStream,
  ProcessEvent,
  ReadRequest,
  ReadResult,
  Retention,
  SubscribeOptions,
  Subscription,
  WriteStatus,
} from '../process/exec-process.ts'
import { WriteMemory } from '../process/write-memory.ts'

/** Processes of this place cannot be signalled; `terminate` ends them. */
export class SignalRefused extends Error {
  readonly code = 'signal_refused'
  constructor() {
    super('a process here can be ended, and not signalled otherwise')
    this.name = 'SignalRefused'
  }
}

/** What a place knows of a process it started. */
export interface ProcessStreams {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Never reject. The second settles when both streams have ended. */
  readonly exitCode: Promise<number>
  readonly closed: Promise<void>
  /** Why it never ran or was lost, known no later than `exitCode`, which then means nothing. */
  readonly failure?: Promise<string | undefined>
  /** Left out where a process can only be ended. */
  readonly interrupt?: () => void
  /** Ends it; answers when it is clear that it will. */
  readonly terminate: (isForced: boolean) => Promise<void>
}

export interface StreamProcessOptions {
  readonly processId: string
  readonly pipeStdin: boolean
  readonly retention: Retention
  readonly streams: ProcessStreams
}

/** A process at the other end of three streams of this machine. Its bytes are kept as they come, never turned into text. */
export class StreamProcess implements ExecProcess {
  readonly processId: string
  readonly #log: OutputLog
  readonly #streams: ProcessStreams
  readonly #writes = new WriteMemory()
  readonly #input: InputLine
  #isTerminating = false

  constructor({ processId, pipeStdin, retention, streams }: StreamProcessOptions) {
    this.processId = processId
    this.#streams = streams
    const { stdin, stdout, stderr } = streams
    this.#log = new OutputLog({
      ...retention,
      hold: (isHeld) => {
        for (const stream of [stdout, stderr]) {
          if (isHeld) stream.pause()
          else stream.resume()
        }
      },
    })
    this.#input = new InputLine(stdin, () => this.#log.isExited || this.#log.over !== undefined)
    this.#follow('stdout', stdout)
    this.#follow('stderr', stderr)
    if (!pipeStdin) stdin.end()
    void this.#watch()
  }

  get lastSeq(): number {
    return this.#log.lastSeq
  }
  get ended(): Promise<void> {
    return this.#log.ended
  }

  write(input: Buffer | string, writeId?: string): Promise<WriteStatus> {
    return writeId === undefined ? this.#input.write(input) : this.#writes.once(writeId, () => this.#input.write(input))
  }

  endInput(): void {
    this.#input.end()
  }

  read(request: ReadRequest): Promise<ReadResult> {
    return this.#log.read(request)
  }

  signal(_signal: ExecSignal): Promise<void> {
    const { interrupt } = this.#streams
    if (interrupt === undefined) return Promise.reject(new SignalRefused())
    if (!this.#log.isClosed) interrupt()
    return Promise.resolve()
  }

  async terminate({ force = false }: { readonly force?: boolean } = {}): Promise<boolean> {
    if (this.#log.isClosed) return false
    if (this.#isTerminating && !force) return !this.#log.isExited
    const wasRunning = !this.#log.isExited
    this.#isTerminating = true
    await this.#streams.terminate(force)
    return wasRunning
  }

  subscribe(listener: (event: ProcessEvent) => void, options?: SubscribeOptions): Subscription {
    return this.#log.subscribe(listener, options)
  }

  #follow(name: OutputStream, stream: Readable): void {
    stream.on('data', (bytes: Buffer) => this.#log.output(name, bytes))
  }

  async #watch(): Promise<void> {
    const { exitCode, failure, closed } = this.#streams
    const code = await exitCode
    const why = await failure
    if (why === undefined) this.#log.exited(code)
    await closed
    if (why === undefined) this.#log.closed()
    else this.#log.fail(why)
  }
}
