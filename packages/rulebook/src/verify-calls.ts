import { setImmediate as turn } from 'node:timers/promises'
import type { ChainFault } from '@parley/protocol'
import type { ChainedEntry, Logs } from '@parley/store'
import { type CallChain, MAC_BYTES, type OpenedHead, linesIn } from './call-chain.ts'

/** What is read at once, so that others have their turn in between. */
const PAGE_BYTES = 256 * 1024

/** What was found in a part of a log. */
export interface VerifiedPart {
  /** Lines that are proved to be as they were written, and where they stand. */
  readonly lines: number
  /** Lines from before there were chains. */
  readonly unchained: number
  /** When the first of the proved ones was written. */
  readonly since: number | null
  readonly faults: readonly ChainFault[]
  readonly bytes: number
  /** The entry to go on from; null: that was all. */
  readonly next: number | null
}

export interface VerifyOptions {
  readonly logs: Pick<Logs, 'chained' | 'chainedEntries'>
  readonly chain: CallChain
  readonly name: string
  /** The entry to begin with; 0: the first that is kept. */
  readonly seq: number
  readonly maxBytes: number
  readonly maxFaults: number
}

/** Walks along the chain of one log, as far as so many bytes or faults, and says what is not as it was written. */
export async function verifyCalls(options: VerifyOptions): Promise<VerifiedPart> {
  const { logs, chain, name, maxBytes, maxFaults } = options
  const log = await logs.chained(name)
  if (log === undefined) return { lines: 0, unchained: 0, since: null, faults: [], bytes: 0, next: null }
  const head = chain.open(name, log.head)
  const walk = new Walk(chain, head)
  const seq = Math.max(options.seq, log.first.seq)
  if (seq === log.first.seq) {
    walk.begin(log.first.offset)
    // The first entry may be gone although the log says that it is there: then the walk finds where it begins.
  } else {
    const [before] = await logs.chainedEntries(name, { seq: seq - 1, offset: 0, maxBytes: 1 })
    walk.goOn(before?.seq === seq - 1 ? before : undefined)
  }
  const end = log.last?.seq ?? log.first.seq
  let at = seq
  while (at < end && walk.bytes < maxBytes && walk.faults.length < maxFaults) {
    const page = await logs.chainedEntries(name, { seq: at, offset: walk.offset, maxBytes: PAGE_BYTES })
    const entries = page.filter((entry) => entry.seq < end)
    if (entries[0]?.seq !== at) {
      // Old entries went meanwhile: what is left is looked at from the beginning of it.
      const now = await logs.chained(name)
      if (now === undefined || now.first.seq > at) return { ...walk.found(), next: now === undefined ? null : now.first.seq }
    }
    if (entries.length === 0) break
    for (const entry of entries) walk.pass(entry)
    at = (entries.at(-1)?.seq ?? at) + 1
    await turn()
  }
  if (at < end && (walk.bytes >= maxBytes || walk.faults.length >= maxFaults)) return { ...walk.found(), next: at }
  walk.finish(log.end.offset)
  return { ...walk.found(), next: null }
}

/** One way along a log: where it stands, the MAC of the line before if that is known, and what was found. */
class Walk {
  readonly faults: ChainFault[] = []
  offset = 0
  bytes = 0
  readonly #chain: CallChain
  readonly #head: OpenedHead
  #mac: Uint8Array | undefined
  #lines = 0
  #unchained = 0
  #since: number | null = null
  #isHeadMissed = false

  constructor(chain: CallChain, head: OpenedHead) {
    this.#chain = chain
    this.#head = head
  }

  /** At the beginning of what is kept. */
  begin(offset: number): void {
    this.offset = offset
    const head = this.#head
    if (head.kind === 'foreign') this.#fault(offset, 'head', 'what is kept of the chain was not sealed by this installation')
    if (head.kind !== 'sealed') return
    if (head.doubt !== null)
      this.#fault(head.doubt, 'head', 'a gateway found here that what was kept of the chain was not sealed by this installation')
    if (offset > head.from.offset) this.#fault(head.from.offset, 'missing', `the lines from here to ${offset} are gone`)
  }

  /** After an entry that was passed before. */
  goOn(before: ChainedEntry | undefined): void {
    this.offset = before?.offset ?? 0
    if (before === undefined || before.chain === null) return
    this.#mac = before.chain.subarray(-MAC_BYTES)
    // Then it was missed there already.
    const head = this.#head
    this.#isHeadMissed = head.kind === 'none' || (head.kind === 'sealed' && before.offset <= head.from.offset)
  }

  pass(entry: ChainedEntry): void {
    const start = entry.offset - entry.bytes.length
    this.bytes += entry.bytes.length
    if (start !== this.offset) {
      const words = start > this.offset ? `the lines from here to ${start} are gone` : 'what follows stands at another place'
      this.#fault(this.offset, 'missing', words)
      this.#mac = undefined
    }
    this.offset = entry.offset
    const head = this.#head
    if (head.kind === 'sealed' && start < head.from.offset) this.#passBefore(entry, start)
    else if (entry.chain === null) this.#passUnchained(entry, start)
    else this.#passChained(entry, entry.chain, start)
  }

  /** At the end of it, where the log says that it ends. */
  finish(logEnd: number): void {
    const head = this.#head
    const end = head.kind === 'sealed' ? head.end.offset : logEnd
    if (this.offset < end) this.#fault(this.offset, 'cut_off', `the lines from here to ${end} are gone`)
    else if (logEnd !== this.offset) this.#fault(this.offset, 'cut_off', `the log says that it ends at ${logEnd}`)
    else if (head.kind !== 'sealed' || this.faults.length > 0) return
    else if (this.offset > end) this.#fault(end, 'head', 'what is kept of the chain is from an earlier time: it ends here')
    else if (this.#mac !== undefined && !isSame(this.#mac, head.end.mac))
      this.#fault(end, 'head', 'what is kept of the chain does not end with the last line')
  }

  found(): Omit<VerifiedPart, 'next'> {
    const { faults, bytes } = this
    return { lines: this.#lines, unchained: this.#unchained, since: this.#since, faults, bytes }
  }

  /** Before the chain. What was chained and is not gone tells of another chain, which somebody took the head of. */
  #passBefore(entry: ChainedEntry, start: number): void {
    this.#unchained += linesIn(entry.bytes).length
    if (entry.chain === null || this.#isHeadMissed) return
    this.#isHeadMissed = true
    this.#fault(start, 'head', 'this line is chained, and what is kept of the chain begins later')
  }

  #passUnchained(entry: ChainedEntry, start: number): void {
    if (this.#head.kind === 'none' && !this.#isHeadMissed) this.#unchained += linesIn(entry.bytes).length
    else this.#fault(start, 'added', 'this line was not written by a gateway that chains')
  }

  #passChained(entry: ChainedEntry, chain: Uint8Array, start: number): void {
    if (this.#head.kind === 'none' && !this.#isHeadMissed) {
      this.#isHeadMissed = true
      this.#fault(start, 'head', 'what is kept of the chain is missing')
    }
    // The chain may begin here; otherwise the line before says what this one follows from.
    const head = this.#head
    let before = head.kind === 'sealed' && head.from.offset === start ? head.from.mac : this.#mac
    let isFaulty = false
    const lines = linesIn(entry.bytes)
    for (const [index, line] of lines.entries()) {
      const there = chain.subarray(index * MAC_BYTES, (index + 1) * MAC_BYTES)
      const place = start + line.start
      const isRight =
        before !== undefined &&
        there.length === MAC_BYTES &&
        isSame(this.#chain.macsOf(entry.bytes.subarray(line.start, line.end), { mac: before, offset: place }, entry.at), there)
      if (isRight) {
        this.#lines += 1
        this.#since ??= entry.at
      } else if (before !== undefined && !isFaulty) {
        isFaulty = true
        this.#fault(place, 'changed', 'this line is not the one that was written here after the line before it')
      }
      before = there.length === MAC_BYTES ? there : undefined
    }
    if (!isFaulty && chain.length > lines.length * MAC_BYTES)
      this.#fault(entry.offset, 'changed', 'a line that was written here is gone')
    this.#mac = chain.length >= MAC_BYTES ? chain.subarray(-MAC_BYTES) : undefined
  }

  #fault(offset: number, kind: ChainFault['kind'], message: string): void {
    this.faults.push({ offset, kind, message })
  }
}

const isSame = (left: Uint8Array, right: Uint8Array): boolean => Buffer.compare(left, right) === 0
