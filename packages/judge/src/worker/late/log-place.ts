/**
 * How far a log on disk has got. Bytes of the file before `acked` need not be sent any more; the log at the gateway ended at
 * `offset` then. Those up to `sent` may be on their way, those behind it never left this machine.
 */
export interface LogPlace {
  readonly acked: number
  readonly offset: number
  readonly sent: number
}

/** Always the same length, so that each one covers the one before: one small write is there whole or not at all. */
const PLACE_BYTES = 64
const PLACE = /^(\d{1,15}) (\d{1,15}) (\d{1,15}) *\n$/

export function placeBytes({ acked, offset, sent }: LogPlace): Buffer {
  return Buffer.from(`${`${acked} ${offset} ${sent}`.padEnd(PLACE_BYTES - 1)}\n`)
}

/** `undefined`: nobody can say any more how far it got. */
export function parsePlace(bytes: Buffer): LogPlace | undefined {
  const found = PLACE.exec(bytes.toString('latin1'))
  if (found === null) return undefined
  const [acked = 0, offset = 0, sent = 0] = found.slice(1).map(Number)
  return acked <= sent ? { acked, offset, sent } : undefined
}

/** What is known of the bytes of an earlier claim: from where on they never arrived, and how many before that may not have. */
export interface Unsent {
  readonly from: number
  readonly doubtful: number
}

/**
 * Decides by where the log ends at the gateway now. Logs only grow, and an append is there whole or not at all: a log that ends where
 * we last knew it holds nothing of the append that was on its way. One that grew grew by our bytes, if nobody had the
 * job in between. Otherwise the bytes on their way may be among those of others: they are neither sent again nor called sent.
 */
export function unsentOf(place: LogPlace, fileBytes: number, end: number, isNextClaim: boolean): Unsent {
  const acked = Math.min(place.acked, fileBytes)
  const sent = Math.min(place.sent, fileBytes)
  if (end === place.offset) return { from: acked, doubtful: 0 }
  const arrived = place.acked + end - place.offset
  if (isNextClaim && arrived > acked && arrived <= fileBytes) return { from: arrived, doubtful: 0 }
  return { from: sent, doubtful: sent - acked }
}
