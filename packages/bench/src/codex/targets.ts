import { join, resolve } from 'node:path'
import { codexBinary, MODEL_KEY } from '@parley/contracts/testing'
import { ensurePeer } from '../../../../scripts/peers/ensure-peer.ts'
import type { StdioCommand } from './stdio-peer.ts'

const LAUNCHER = resolve(import.meta.dirname, '../../../../bin/parley.js')

export interface Places {
  /** A CODEX_HOME with the loopback model in it. */
  readonly home: string
  readonly data: string
  readonly work: string
  readonly modelUrl: string
}

/** The command lines that are measured, by what they are called in the table. */
export interface Targets {
  readonly codex: StdioCommand
  readonly codexByNpm: StdioCommand
  readonly appServer: StdioCommand
  readonly mini: StdioCommand
  readonly bridge: StdioCommand
}

export async function targetsAt(places: Places): Promise<Targets> {
  const [old, current] = [await ensurePeer('codex-0.153'), await ensurePeer('codex-0.166')]
  const codexEnv = {
    PATH: process.env['PATH'] ?? '',
    HOME: places.home,
    CODEX_HOME: places.home,
    TMPDIR: join(places.home, 'tmp'),
    [MODEL_KEY.name]: MODEL_KEY.value,
  }
  const ownEnv = {
    ...codexEnv,
    PARLEY_MODEL_BASE_URL: places.modelUrl,
    PARLEY_MODEL_API_KEY: MODEL_KEY.value,
    PARLEY_MODELS: 'gpt-5',
    PARLEY_LOG: 'warn',
  }
  const native = codexBinary(old)
  const newest = codexBinary(current)
  const cwd = places.work
  const own = (...more: string[]): StdioCommand => ({
    command: process.execPath,
    args: [LAUNCHER, 'mcp-server', '--data', places.data, ...more],
    env: ownEnv,
    cwd,
  })
  return {
    codex: { command: native.command, args: [...native.args, 'mcp-server'], env: codexEnv, cwd },
    codexByNpm: { command: process.execPath, args: [old.bin('codex'), 'mcp-server'], env: codexEnv, cwd },
    appServer: { command: newest.command, args: [...newest.args, 'app-server'], env: codexEnv, cwd },
    mini: own('--engine', 'mini'),
    bridge: own('--engine', 'codex', '--codex', newest.command),
  }
}
