import { join, resolve } from 'node:path'
import type { LazyProcesses } from '@parley/executor'
import { askVersion, openBridge } from '@parley/codex'
import { type Backend, openCodexBackend } from '@parley/codex-server'
import { readOverrides } from '@parley/codex/config'
import type { Detected } from '@parley/contracts/version'
import { checkConfig, hasVersionedSettings } from '@parley/contracts/params'
import { CommandError, type Io, usageError } from '@parley/command-line'
import { cacheDirOf } from '../data/cache-dir.ts'
import { homeOf } from '../data/person-folders.ts'
import { programsOf } from '../programs-of.ts'
import { toolchainsOf } from '../installed/toolchains.ts'
import { ownVersion } from '../version.ts'
import { openBoxedGit } from './boxed-git.ts'
import { lazySandbox } from './lazy-sandbox.ts'
import { wholeEnv } from '../process/program-env.ts'
import { type ServerLog, codexLine } from '@parley/codex-server/start'

/** How many of us stand behind each other: a codex that is a wrapper of parley would start one more without end. */
const DEPTH = 'PARLEY_CODEX_DEPTH'
const DEPTH_MAX = 2

export interface CodexPlan {
  readonly path: string
  readonly overrides: readonly string[]
  readonly io: Io
  readonly log: ServerLog
  readonly processes: LazyProcesses
}

/** A real Codex behind a server, in the environment and the home of whoever started us. */
export async function openCodex({ path, overrides, io, log, processes }: CodexPlan): Promise<Backend> {
  const env = { ...wholeEnv(io.env), [DEPTH]: String(depthOf(io.env, path) + 1) }
  const version = await versionOf({ path, env, cwd: io.cwd, processes })
  if (version.kind === 'failed') log('warn', 'parley_codex', `${version.message}; it is asked what it speaks`)
  else if (version.kind === 'supported') log('info', 'parley_codex', `codex ${version.version.text} at ${path}`)
  const settings = overrides.flatMap((override) => ['-c', override])
  const codexHome = resolve(io.cwd, io.env['CODEX_HOME'] || join(homeOf(io.env), '.codex'))
  const bridge = await openBridge({
    start: (args) => processes.start({ command: path, args: [...settings, ...args], env, cwd: io.cwd }),
    ...(version.kind === 'failed' || version.kind === 'unreadable' ? {} : { version: version.version.text }),
    client: { name: 'parley', version: ownVersion() },
    warn: (message) => log('warn', 'parley_codex', message),
    log: codexLine(log),
    now: io.now,
    random: io.random,
    codexHome,
  })
  const cacheFolder = cacheDirOf(io, '.parley')
  const warn = (message: string): void => log('warn', 'parley_codex', message)
  const sandbox = lazySandbox({ cacheFolder: join(cacheFolder, 'sandbox'), runFolder: join(cacheFolder, 'boxes'), warn })
  const hidden = [codexHome, cacheFolder]
  return openCodexBackend({
    bridge,
    now: io.now,
    codexHome,
    git: openBoxedGit({ sandbox, hidden, toolchains: toolchainsOf([], io.env, hidden) }),
    warn,
  })
}

/** Refuses `-c` of a setting that this Codex lacks. Where there is none to refuse, Codex is not asked. Throws `CommandError`. */
export async function checkOverrides({ path, overrides, io, processes }: Omit<CodexPlan, 'log'>): Promise<void> {
  const config = readOverrides(overrides)
  if (!hasVersionedSettings(config)) return
  const version = await versionOf({ path, env: wholeEnv(io.env), cwd: io.cwd, processes })
  if (version.kind === 'failed' || version.kind === 'unreadable') return
  const [problem] = checkConfig(config, version.version, 'cli').problems
  if (problem !== undefined) throw usageError(`-c: ${problem.message}`, 'leave it out, or name another Codex with --codex')
}

/** Throws `CommandError`. */
function depthOf(env: Readonly<Record<string, string | undefined>>, path: string): number {
  const depth = Number(env[DEPTH] ?? 0)
  if (depth < DEPTH_MAX) return depth
  throw new CommandError('codex_is_parley', `${path} was started by itself: it seems to start Parley instead of a Codex`, {
    hint: '--codex names the real one; --engine mini needs none',
  })
}

async function versionOf({
  path,
  env,
  cwd,
  processes,
}: {
  readonly path: string
  readonly env: Record<string, string>
  readonly cwd: string
  readonly processes: LazyProcesses
}): Promise<Detected> {
  return askVersion(path, { programs: programsOf(await processes.open()), env, cwd })
}
