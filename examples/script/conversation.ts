import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '@parley/protocol'

/** What a model says in one answer, in the order in which it comes over the wire. */
export interface Said {
  /** The summary of what it thinks, one text for each part. */
  readonly thinks: readonly string[]
  /** What it says beside its calls, or a whole result. */
  readonly says?: string | JsonObject
  readonly calls?: readonly Called[]
  readonly tokens: Tokens
}

export interface Called {
  readonly name: string
  readonly arguments: JsonObject
}

/** `cached` is a part of `input`, `reasoning` one of `output`. */
export interface Tokens {
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly reasoning: number
}

/** A conversation as people write it down; `make-script.ts` makes a script from it. */
export interface Written {
  readonly model: string
  readonly displayName: string
  readonly answers: readonly Said[]
}

/** Tells the people who watch what is being done. */
export const status = (stage: string, summary: string): Called => ({
  name: 'realmoi-status_status_update',
  arguments: { stage, summary },
})

/** Has the job's own cases run. */
export const selfTest = (source: string): Called => ({ name: 'realmoi-status_judge_self_test', arguments: { source } })

/** The source that an answer hands in, from a file beside the conversation. */
export const sourceFile = (folder: string, name: string): string => readFileSync(join(folder, 'answers', name), 'utf8')
