import { parseJson } from '@parley/protocol'
import type { Transcript, TranscriptEntry, Transcripts } from '@parley/agent'
import { ConversationLocked } from './errors.ts'
import { isEntry } from './read-lines.ts'

/** Transcripts that live as long as this object: for conversations that nobody goes on with. */
export function openMemoryTranscripts(): Transcripts {
  const kept = new Map<string, string[]>()
  const held = new Set<string>()
  const hold = (id: string, lines: string[]): Transcript => {
    if (held.has(id)) throw new ConversationLocked(id)
    held.add(id)
    return {
      read: () => Promise.resolve(lines.map((line) => parseJson(line)).filter(isEntry)),
      append: (entries: readonly TranscriptEntry[]) => {
        // As text, as on a disk: nobody can change afterwards what was written.
        for (const entry of entries) lines.push(JSON.stringify(entry))
        return Promise.resolve()
      },
      close: () => {
        held.delete(id)
        return Promise.resolve()
      },
    }
  }
  return {
    create: (id) => {
      const lines: string[] = []
      kept.set(id, lines)
      return Promise.resolve().then(() => hold(id, lines))
    },
    open: (id) => {
      const lines = kept.get(id)
      return Promise.resolve().then(() => (lines === undefined ? undefined : hold(id, lines)))
    },
  }
}
