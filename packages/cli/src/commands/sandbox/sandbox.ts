import { constants } from 'node:os'
import { type RunLimits, type RunOutcome, type Sandbox, openSandbox } from '@parley/sandbox'
import { type Invocation, usageError } from '@parley/command-line'
import { wholeNumber } from '@parley/command-line/commands'
import { readInstance } from '../../config/instance.ts'
import { cacheDirOf } from '../../data/cache-dir.ts'
import { dataDirAt } from '../../data/data-dir.ts'
import { ownPlaces } from '../../config/own-places.ts'
import { sandboxOf } from '../../judge-process/judge-plan-of.ts'
import { namedProgram } from '../../installed/named-program.ts'
import { readInput } from './read-input.ts'
import { toolchainsOf } from '../../installed/toolchains.ts'
import { withScratch } from '../../data/scratch.ts'
import { columns } from '@parley/screen'

const KIB = 1024
const MIB = 1024 * KIB
const LIMIT_EXIT = 124
const SANDBOX_EXIT = 125
const BOX_BYTES = 256 * MIB
const OPEN_FILES = 256
/** What of our own environment a program gets: nothing that could hold a secret. */
const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', HOME: '/tmp', TMPDIR: '/tmp' }

/** One program under limits. */
export async function sandboxRun(invocation: Invocation): Promise<number> {
  const { io, values, rest } = invocation
  const [command, ...args] = rest
  if (command === undefined) throw usageError('sandbox run needs a command after --', 'parley sandbox run -- ./program')
  const limits = limitsOf(values)
  const program = await namedProgram(command, io)
  const read = readInstance(invocation)
  const { settings } = read
  const own = ownPlaces(io, read, { data: dataDirAt(io.cwd, settings.dataDir).path, cache: cacheDirOf(io, settings.dataDir) })
  const hidden = [...own.folders, ...own.files]
  const toolchains = toolchainsOf(settings.sandboxRead, io.env, hidden)
  const stdin = await readInput(invocation)
  return withSandbox(invocation, async (sandbox) => {
    const box = await sandbox.openBox({
      kind: 'workspace',
      folder: io.cwd,
      writable: false,
      hidden,
      readable: [...program.readable, ...toolchains.readable],
    })
    try {
      const stopped = new AbortController()
      const ignore = io.onSignal(() => stopped.abort())
      const outcome = await box.run(
        {
          argv: [program.path, ...args],
          environment: { ...ENVIRONMENT, ...toolchains.environment },
          stdin,
          captureBytes: { stdout: limits.outputBytes, stderr: limits.outputBytes },
          limits,
        },
        stopped.signal,
      )
      ignore()
      return told(outcome, invocation, sandbox)
    } finally {
      await box.close()
    }
  })
}

/** What this machine enforces. */
export async function sandboxCheck(invocation: Invocation): Promise<number> {
  const { io, values } = invocation
  return withSandbox(invocation, async ({ report }) => {
    if (values.has('json')) io.out(`${JSON.stringify(report)}\n`)
    else {
      const rows = [['driver', report.driver], ['tier', report.tier], ...Object.entries(report.enforced)]
      const missing = report.missing.map((text) => `missing: ${text}\n`).join('')
      io.out(`${columns(rows, io.screen(), { wraps: true })}\n${missing}`)
    }
    return 0
  })
}

function withSandbox({ io, values }: Invocation, use: (sandbox: Sandbox) => Promise<number>): Promise<number> {
  return withScratch(io, async ({ cacheFolder, runFolder }) =>
    use(await openSandbox({ driver: sandboxOf(values.text('sandbox')), cacheFolder, runFolder })),
  )
}

function told(outcome: RunOutcome, { io, values }: Invocation, { report }: Sandbox): number {
  const { status, exitCode, signal, cpuMs, wallMs, memoryBytes, stdout, stderr, message } = outcome
  if (values.has('json')) {
    const result = {
      status,
      exit_code: exitCode,
      signal,
      cpu_ms: cpuMs,
      wall_ms: wallMs,
      memory_kb: Math.round(memoryBytes / KIB),
      stdout: Buffer.from(stdout.bytes).toString('utf8'),
      stderr: Buffer.from(stderr.bytes).toString('utf8'),
      stdout_bytes: stdout.totalBytes,
      stderr_bytes: stderr.totalBytes,
      message,
      sandbox: { driver: report.driver, tier: report.tier },
    }
    io.out(`${JSON.stringify(result)}\n`)
    return status === 'sandbox-error' ? SANDBOX_EXIT : 0
  }
  io.out(stdout.bytes)
  io.err(stderr.bytes)
  const why = message === null ? '' : `: ${message}`
  io.err(
    `${status}${signal === null ? '' : ` ${signal}`}${why}; ${Math.round(cpuMs)} ms CPU, ${Math.round(wallMs)} ms, ${(memoryBytes / MIB).toFixed(1)} MiB\n`,
  )
  return exitCodeFor(outcome)
}

/** Exit codes as shells and `timeout` have them. */
function exitCodeFor({ status, exitCode, signal }: RunOutcome): number {
  if (status === 'ok' || status === 'nonzero') return exitCode ?? 0
  if (status === 'signal') return 128 + (signal === null ? 0 : (SIGNALS[signal] ?? 0))
  return status === 'sandbox-error' ? SANDBOX_EXIT : LIMIT_EXIT
}
const SIGNALS: Readonly<Record<string, number | undefined>> = { ...constants.signals }

function limitsOf(values: Invocation['values']): RunLimits {
  const number = (flag: string, max: number): number | undefined => wholeNumber(values, flag, { min: 1, max })
  const cpuMs = number('cpu-ms', 3_600_000) ?? 10_000
  return {
    cpuMs,
    wallMs: number('wall-ms', 7_200_000) ?? cpuMs * 2 + 1_000,
    memoryBytes: (number('memory-mb', 65_536) ?? 256) * MIB,
    outputBytes: (number('output-kb', 262_144) ?? 1_024) * KIB,
    processes: number('processes', 4_096) ?? 64,
    boxBytes: BOX_BYTES,
    openFiles: OPEN_FILES,
  }
}
