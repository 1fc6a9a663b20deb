import type { Tester } from '../tester.ts'

/** A tester with all that was opened for it. */
export interface OpenedTester {
  readonly tester: Tester
  close(): Promise<void>
}

/** Opens the tester when the first self-test asks for it: an engine waits seconds for its servers, not for compilers. */
export class LazyTester implements Tester {
  /** Which there are is known only when it is open; who asks here does not mind. */
  readonly languages: Tester['languages'] = []
  readonly #open: () => Promise<OpenedTester>
  #opening: Promise<OpenedTester> | undefined

  constructor(open: () => Promise<OpenedTester>) {
    this.#open = open
  }

  async test(...request: Parameters<Tester['test']>): ReturnType<Tester['test']> {
    this.#opening ??= this.#open()
    const { tester } = await this.#opening
    return tester.test(...request)
  }

  async close(): Promise<void> {
    const opened = await this.#opening?.catch(() => undefined)
    await opened?.close()
  }
}
