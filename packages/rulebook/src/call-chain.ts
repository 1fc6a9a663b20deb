import { type KeyObject, createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import { RecentMap } from '@parley/protocol'
import type { ChainedEnd, LogChain } from '@parley/store'

/** Of HMAC-SHA-256. */
export const MAC_BYTES = 32
const NEWLINE = 10
const NUMBER_BYTES = 8

/** A place in a log between two lines, and the MAC of the line before. */
interface ChainPlace {
  readonly offset: number
  readonly mac: Uint8Array
}

/** What is kept of a chain with its log, sealed: the lines from `from` to `end` are those that were written, all of them and no others. */
export interface ChainHead {
  readonly from: ChainPlace
  readonly end: ChainPlace
  /** Where a gateway found that what was kept before was not ours, and began anew. */
  readonly doubt: number | null
}

/** `none`: nothing is chained; `foreign`: nobody sealed this who has our key. */
export type OpenedHead =
  | { readonly kind: 'none' | 'foreign' }
  | { readonly kind: 'sealed'; readonly from: ChainPlace; readonly end: ChainPlace; readonly doubt: number | null }

/** What is hashed begins with what it is, so that nothing that was made as one can be shown as another. */
const KINDS = { begin: 1, line: 2, head: 3 } as const
const FORM = 1
const BODY_BYTES = 1 + 3 * NUMBER_BYTES + 2 * MAC_BYTES
const OWN_HEADS_MAX = 2_000
const LINE_PREFIX_BYTES = 1 + MAC_BYTES + 2 * NUMBER_BYTES

/**
 * The log of an agent's calls, chained: the MAC of each line covers the MAC of the line before, where the line stands and when it was written.
 * The key comes from the installation's secret, so that who has the database alone can take lines out or change them, and is found out.
 */
export class CallChain implements LogChain {
  readonly #key: KeyObject
  /** The last heads that this process sealed itself: they need not be looked at again. */
  readonly #own = new RecentMap<string, { readonly bytes: Uint8Array; readonly head: ChainHead }>(OWN_HEADS_MAX)
  /** Written over for each line. */
  readonly #prefix = Buffer.alloc(LINE_PREFIX_BYTES)

  constructor(key: Uint8Array) {
    this.#key = createSecretKey(key)
  }

  extend(log: ChainedEnd, entries: readonly Uint8Array[], at: number) {
    const before = this.#continued(log)
    let { mac } = before.end
    let { offset } = log
    const chains = entries.map((entry) => {
      const macs = this.macsOf(entry, { mac, offset }, at)
      mac = macs.subarray(-MAC_BYTES)
      offset += entry.length
      return macs
    })
    return { head: this.#seal(log.name, { ...before, end: { offset, mac } }), chains }
  }

  trim({ name, head }: Pick<ChainedEnd, 'name' | 'head'>, gone: { readonly offset: number; readonly chain: Uint8Array | null }) {
    const opened = this.open(name, head)
    // What is not ours is left as it is: to seal it would make it ours.
    if (opened.kind !== 'sealed' || gone.offset <= opened.from.offset || gone.chain === null) return head
    const { end, doubt } = opened
    const from = { offset: gone.offset, mac: gone.chain.subarray(-MAC_BYTES) }
    return this.#seal(name, { from, end, doubt: doubt !== null && doubt >= gone.offset ? doubt : null })
  }

  open(name: string, head: Uint8Array | null): OpenedHead {
    if (head === null) return { kind: 'none' }
    const own = this.#own.get(name)
    if (own?.bytes === head) return { kind: 'sealed', ...own.head }
    const bytes = Buffer.from(head)
    if (bytes.length !== BODY_BYTES + MAC_BYTES) return { kind: 'foreign' }
    const body = bytes.subarray(0, BODY_BYTES)
    if (!timingSafeEqual(this.#sealOf(name, body), bytes.subarray(BODY_BYTES))) return { kind: 'foreign' }
    return { kind: 'sealed', ...readBody(body) }
  }

  /** The MACs of the lines of an entry, one after the other. */
  macsOf(entry: Uint8Array, { mac, offset }: ChainPlace, at: number): Uint8Array {
    const lines = linesIn(entry)
    const macs = new Uint8Array(lines.length * MAC_BYTES)
    const prefix = this.#prefix
    prefix[0] = KINDS.line
    prefix.set(mac, 1)
    writeNumber(prefix, at, 1 + MAC_BYTES + NUMBER_BYTES)
    for (const [index, { start, end }] of lines.entries()) {
      writeNumber(prefix, offset + start, 1 + MAC_BYTES)
      const next = createHmac('sha256', this.#key).update(prefix).update(entry.subarray(start, end)).digest()
      macs.set(next, index * MAC_BYTES)
      prefix.set(next, 1)
    }
    return macs
  }

  /**
   * What the next line is chained to. Also where the log ends elsewhere than its chain: the line then does not follow from the one that stands
   * before it, and stays the proof of that. A head that is not ours says nothing, and is never taken for ours.
   */
  #continued({ name, head, offset, isChained }: ChainedEnd): ChainHead {
    const opened = this.open(name, head)
    if (opened.kind === 'sealed') return opened
    const begin = { offset, mac: this.#begin(name, offset) }
    return { from: begin, end: begin, doubt: opened.kind === 'foreign' || isChained ? offset : null }
  }

  #begin(name: string, offset: number): Uint8Array {
    const place = Buffer.alloc(1 + NUMBER_BYTES)
    place[0] = KINDS.begin
    writeNumber(place, offset, 1)
    return createHmac('sha256', this.#key).update(place).update(name).digest()
  }

  #seal(name: string, { from, end, doubt }: ChainHead): Uint8Array {
    const head = Buffer.alloc(BODY_BYTES + MAC_BYTES)
    head[0] = FORM
    writeNumber(head, from.offset, 1)
    writeNumber(head, end.offset, 1 + NUMBER_BYTES)
    writeNumber(head, doubt === null ? 0 : doubt + 1, 1 + 2 * NUMBER_BYTES)
    head.set(from.mac, 1 + 3 * NUMBER_BYTES)
    head.set(end.mac, 1 + 3 * NUMBER_BYTES + MAC_BYTES)
    head.set(this.#sealOf(name, head.subarray(0, BODY_BYTES)), BODY_BYTES)
    this.#own.set(name, { bytes: head, head: { from, end, doubt } })
    return head
  }

  #sealOf(name: string, body: Uint8Array): Buffer {
    return createHmac('sha256', this.#key).update(Buffer.of(KINDS.head)).update(body).update(name).digest()
  }
}

function readBody(body: Buffer): ChainHead {
  const number = (index: number): number => Number(body.readBigUInt64BE(1 + index * NUMBER_BYTES))
  const mac = (index: number): Uint8Array => {
    const start = 1 + 3 * NUMBER_BYTES + index * MAC_BYTES
    return body.subarray(start, start + MAC_BYTES)
  }
  const doubt = number(2)
  return {
    from: { offset: number(0), mac: mac(0) },
    end: { offset: number(1), mac: mac(1) },
    doubt: doubt === 0 ? null : doubt - 1,
  }
}

/** A whole number below 2^53: six bytes and two hold it, without a BigInt for each line. */
function writeNumber(buffer: Buffer, value: number, at: number): void {
  buffer.writeUInt32BE(Math.floor(value / 2 ** 32), at)
  buffer.writeUInt32BE(value % 2 ** 32, at + 4)
}

/** Where the lines of an entry begin and end, each with its newline; what follows the last one is a line, too. */
export function linesIn(entry: Uint8Array): readonly { readonly start: number; readonly end: number }[] {
  const lines: { start: number; end: number }[] = []
  for (let start = 0; start < entry.length;) {
    const newline = entry.indexOf(NEWLINE, start)
    const end = newline < 0 ? entry.length : newline + 1
    lines.push({ start, end })
    start = end
  }
  return lines
}
