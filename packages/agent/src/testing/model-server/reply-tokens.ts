import type { JsonObject } from '@parley/protocol'
import type { Piece, ReplyUsage } from './answer.ts'

const BYTES_PER_TOKEN = 4

/** A number of tokens for those who named none: a quarter of the bytes, and the same for the same request. */
export function countedUsage(body: JsonObject, pieces: readonly Piece[]): ReplyUsage {
  const asked = body['input'] ?? body['messages'] ?? []
  const reasoning = pieces.reduce((sum, piece) => sum + ('reasoning' in piece ? tokensOf(piece.reasoning) : 0), 0)
  return { input: tokensOf(JSON.stringify(asked)), output: tokensOf(JSON.stringify(pieces)), reasoning }
}

const tokensOf = (text: string): number => Math.ceil(text.length / BYTES_PER_TOKEN)

/** Cuts text into deltas; an empty one has none. */
export function deltasOf(text: string, characters: number): readonly string[] {
  const deltas: string[] = []
  let delta = ''
  let length = 0
  for (const character of text) {
    delta += character
    length += 1
    if (length < characters) continue
    deltas.push(delta)
    delta = ''
    length = 0
  }
  return delta === '' ? deltas : [...deltas, delta]
}
