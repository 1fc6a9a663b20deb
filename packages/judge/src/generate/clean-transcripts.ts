import type { Transcript, Transcripts } from '@parley/agent'
import type { Redactor } from './redact.ts'

/** Transcripts into which nothing secret is written. */
export function cleanTranscripts(transcripts: Transcripts, redactor: Redactor): Transcripts {
  const clean = (transcript: Transcript): Transcript => ({
    read: () => transcript.read(),
    append: (entries) => transcript.append(entries.map((entry) => ({ ...redactor.json(entry), type: entry.type }))),
    close: () => transcript.close(),
  })
  return {
    create: async (id) => clean(await transcripts.create(id)),
    open: async (id) => {
      const found = await transcripts.open(id)
      return found === undefined ? undefined : clean(found)
    },
  }
}
