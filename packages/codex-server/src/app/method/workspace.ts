import { resolve } from 'node:path'
import * as z from 'zod'
import { RemoteFailure } from '@parley/rpc/line-peer'
import { given } from '../../backend/given.ts'
import { WireSandboxPolicy, readSandboxPolicy } from '../shape/sandbox-policy.ts'
import { method } from './method.ts'

const ROOTS_MAX = 256

const DiffParams = z.object({ cwd: z.string().min(1, { error: 'must not be empty' }) })

export const gitDiffToRemote = method(
  DiffParams,
  async ({ cwd }, { app }) => ({ ...(await (await app.backend()).workspace.diffToRemote(resolve(app.folder, cwd))) }),
  { isDetached: true },
)

const ExecParams = z.object({
  command: z.array(z.string()),
  timeoutMs: z.int().min(0).nullish(),
  cwd: z.string().nullish(),
  sandboxPolicy: WireSandboxPolicy.nullish(),
})

export const execOneOffCommand = method(
  ExecParams,
  async ({ command, timeoutMs, cwd, sandboxPolicy }, { app }) => {
    if (command.length === 0) throw new RemoteFailure('invalid_request', 'command must not be empty', { param: 'command' })
    const more = given({
      timeoutMs,
      folder: typeof cwd === 'string' ? resolve(app.folder, cwd) : null,
      sandboxPolicy: sandboxPolicy ? readSandboxPolicy(sandboxPolicy, app.notes) : null,
    })
    const { exitCode, stdout, stderr } = await (await app.backend()).workspace.exec({ argv: command, ...more }, app.ending)
    return { exitCode, stdout, stderr }
  },
  { isDetached: true },
)

const SearchParams = z.object({
  query: z.string(),
  roots: z.array(z.string()).max(ROOTS_MAX, { error: `must hold at most ${ROOTS_MAX} folders` }),
  cancellationToken: z.string().nullish(),
})

export const fuzzyFileSearch = method(
  SearchParams,
  async ({ query, roots, cancellationToken }, { app }) => {
    if (query === '' || roots.length === 0) return { files: [] }
    const { workspace } = await app.backend()
    const ask = { query, roots: roots.map((root) => resolve(app.folder, root)) }
    const found = await app.searches.run(cancellationToken ?? undefined, (signal) => workspace.search(ask, signal))
    return {
      files: (found ?? []).map(({ root, path, fileName, score, indices }) => ({
        root,
        path,
        file_name: fileName,
        score,
        indices: indices === null ? undefined : [...indices],
      })),
    }
  },
  { dialects: ['0.44'], isDetached: true },
)
