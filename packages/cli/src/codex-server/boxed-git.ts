import { realpathSync } from 'node:fs'
import { GIT_ENVIRONMENT, type OpenGit, type ProgramOutcome, repositoryOf } from '@parley/codex-server'
import type { Toolchains, Box, RunLimits, Sandbox } from '@parley/sandbox'

export interface BoxedGitPorts {
  /** The sandbox, or why there is none. */
  readonly sandbox: () => Promise<Sandbox | string>
  readonly hidden: readonly string[]
  readonly toolchains: Toolchains
}

const MIB = 1024 * 1024
const LIMITS: Omit<RunLimits, 'wallMs' | 'cpuMs' | 'outputBytes'> = {
  memoryBytes: 1024 * MIB,
  processes: 64,
  boxBytes: 64 * MIB,
  openFiles: 1_024,
}
/** Processor time is bounded by the clock first: git uses several cores. */
const CORES_COUNTED = 64
const STDERR_BYTES = 64 * 1024
const START = 'cd -- "$1" && shift && exec "$@"'
/** Git in a sandbox that shows the repository, read-only, and no network. Without one, git is not run. */
export function openBoxedGit({ sandbox, hidden, toolchains }: BoxedGitPorts): OpenGit {
  return async (folder) => {
    const held = await sandbox()
    if (typeof held === 'string') throw new Error(held)
    const box = await held.openBox({
      kind: 'workspace',
      folder: repositoryOf(realpathSync(folder)),
      writable: false,
      hidden,
      readable: toolchains.readable,
    })
    const environment = { ...GIT_ENVIRONMENT, ...toolchains.environment }
    return {
      run: (argv, more) => runIn(box, environment, argv, { ...more, folder: realpathSync(more.folder) }),
      close: () => box.close(),
    }
  }
}

async function runIn(
  box: Box,
  environment: Readonly<Record<string, string>>,
  argv: readonly string[],
  { folder, timeoutMs, outputBytes }: { readonly folder: string; readonly timeoutMs: number; readonly outputBytes: number },
): Promise<ProgramOutcome> {
  const { status, exitCode, stdout, stderr, message } = await box.run({
    argv: ['/bin/sh', '-c', START, 'sh', folder, ...argv],
    environment,
    captureBytes: { stdout: outputBytes, stderr: STDERR_BYTES },
    limits: { ...LIMITS, wallMs: timeoutMs, cpuMs: timeoutMs * CORES_COUNTED, outputBytes },
  })
  if (status === 'wall-limit' || status === 'cpu-limit') return { kind: 'timed-out' }
  if (status === 'output-limit') return { kind: 'too-much' }
  if (status === 'sandbox-error') throw new Error(message ?? 'the sandbox failed')
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8')
  return { kind: 'ended', exitCode, stdout: text(stdout.bytes), stderr: text(stderr.bytes) }
}
