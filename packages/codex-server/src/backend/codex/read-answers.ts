import * as z from 'zod'
import type { AuthStatus, FoundFile } from '../backend.ts'
import { BackendError } from '@parley/codex/port'

export const FoundFiles = z.object({
  files: z.array(
    z.looseObject({
      root: z.string(),
      path: z.string(),
      match_type: z.string().optional(),
      file_name: z.string().optional(),
      score: z.number(),
      indices: z.array(z.number()).nullish(),
    }),
  ),
})

/** Newer versions find folders as well. */
export const foundFiles = ({ files }: z.infer<typeof FoundFiles>): readonly FoundFile[] =>
  files.flatMap(({ root, path, match_type: type = 'file', file_name: name, score, indices }) =>
    type === 'file'
      ? [{ root, path, fileName: name ?? path.slice(path.lastIndexOf('/') + 1), score, indices: indices ?? null }]
      : [],
  )

/** Every sign-in that is not a key is one with ChatGPT, in the words of old. */
export function authStatus(answer: {
  readonly authMethod?: string | null | undefined
  readonly authToken?: string | null | undefined
  readonly requiresOpenaiAuth?: boolean | null | undefined
}): AuthStatus {
  const { authMethod, authToken, requiresOpenaiAuth } = answer
  const method = typeof authMethod !== 'string' ? null : authMethod.toLowerCase() === 'apikey' ? 'apikey' : 'chatgpt'
  return { method, token: authToken ?? null, requiresOpenaiAuth: requiresOpenaiAuth ?? true }
}

/** Newer versions archive by id alone; a path that is not that of the conversation is a mistake all the same. */
export function checkRollout(id: string, path: string): void {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (!path.includes('/sessions/') || path.split('/').includes('..') || !name.endsWith('.jsonl'))
    throw new BackendError('invalid_request', `rollout path \`${path}\` must be in sessions directory`)
  if (!name.toLowerCase().endsWith(`${id.toLowerCase()}.jsonl`))
    throw new BackendError('invalid_request', `rollout path \`${path}\` does not match conversation id ${id}`)
}
