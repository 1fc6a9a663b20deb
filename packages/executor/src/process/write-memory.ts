import type { WriteStatus } from './exec-process.ts'

/** As many as the real `codex exec-server` remembers. Nobody has more writes under way than this. */
const REMEMBERED_WRITES = 4_096

/** Remembers writes by their ids, so that one that is sent again, because its answer was lost, is not written again. */
export class WriteMemory {
  readonly #known = new Map<string, Promise<WriteStatus>>()

  once(writeId: string, write: () => Promise<WriteStatus>): Promise<WriteStatus> {
    const known = this.#known.get(writeId)
    if (known !== undefined) return known
    const writing = write()
    this.#known.set(writeId, writing)
    if (this.#known.size > REMEMBERED_WRITES) this.#forgetOldest()
    // What was not written may be tried again under the same id.
    const forget = (): void => {
      if (this.#known.get(writeId) === writing) this.#known.delete(writeId)
    }
    writing.then((status) => {
      if (status !== 'accepted') forget()
    }, forget)
    return writing
  }

  #forgetOldest(): void {
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest)
      return
    }
  }
}
