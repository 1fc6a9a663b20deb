import type { Transcript, Transcripts } from '@parley/agent'
import { FOR_TURN } from './recorded.ts'

/** Marks what is noted about options as holding for one turn: who takes the conversation up after a crash must not find them. */
export function markingTranscripts(inner: Transcripts): Transcripts {
  return {
    create: (id) => inner.create(id),
    open: async (id) => {
      const transcript = await inner.open(id)
      return transcript === undefined ? undefined : marking(transcript)
    },
  }
}

const marking = (inner: Transcript): Transcript => ({
  read: () => inner.read(),
  append: (entries) => inner.append(entries.map((entry) => (entry.type === 'resumed' ? { ...entry, [FOR_TURN]: true } : entry))),
  close: () => inner.close(),
})
