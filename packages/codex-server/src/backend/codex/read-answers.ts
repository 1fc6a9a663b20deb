import type { Bridge } from '@parley/codex'
import * as z from 'zod'
import type { Account, AuthStatus, FoundFile } from '../backend.ts'
import { BackendError } from '@parley/codex/port'
import { asked } from './asked.ts'

export const Nothing = z.looseObject({})
export const Ended = z.object({ exitCode: z.number(), stdout: z.string(), stderr: z.string() })
/** An answer that takes longer is not waited for. */
export const EXEC_MS_MAX = 110_000

const Diff = z.object({ sha: z.string(), diff: z.string() })
const AuthAnswer = z.object({
  authMethod: z.string().nullish(),
  authToken: z.string().nullish(),
  requiresOpenaiAuth: z.boolean().nullish(),
})

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
export async function authStatus(bridge: Bridge, ask: Parameters<Account['status']>[0]): Promise<AuthStatus> {
  const { authMethod, authToken, requiresOpenaiAuth } = await asked(bridge, AuthAnswer, ['getAuthStatus', { ...ask }])
  const method = typeof authMethod !== 'string' ? null : authMethod.toLowerCase() === 'apikey' ? 'apikey' : 'chatgpt'
  return { method, token: authToken ?? null, requiresOpenaiAuth: requiresOpenaiAuth ?? true }
}

/** As Codex's own git has it. */
export const codexDiff = (bridge: Bridge, folder: string): Promise<z.infer<typeof Diff>> =>
  asked(bridge, Diff, ['gitDiffToRemote', { cwd: folder }])

/** Newer versions archive by id alone; a path that is not that of the conversation is a mistake all the same. */
export function checkRollout(id: string, path: string): void {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (!path.includes('/sessions/') || path.split('/').includes('..') || !name.endsWith('.jsonl'))
    throw new BackendError('invalid_request', `rollout path \`${path}\` must be in sessions directory`)
  if (!name.toLowerCase().endsWith(`${id.toLowerCase()}.jsonl`))
    throw new BackendError('invalid_request', `rollout path \`${path}\` does not match conversation id ${id}`)
}
