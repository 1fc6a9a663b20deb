import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import type { Program } from '../measure/program.ts'
import { startProgram } from '../measure/program.ts'
import type { WireLimits } from './limits.ts'

const GATEWAY = join(dirname(fileURLToPath(import.meta.url)), 'gateway-main.ts')

const Ready = z.object({ url: z.string(), mcp: z.string(), ws: z.string(), token: z.string(), judge_token: z.string() })
const ReadyAgain = Ready.omit({ token: true, judge_token: true })

/** A gateway in a process of its own, on a folder that goes away with it. */
export interface OwnGateway extends AsyncDisposable {
  readonly program: Program
  readonly folder: string
  readonly url: string
  readonly mcp: string
  readonly ws: string
  readonly token: string
  readonly judgeToken: string
  /** Starts it again on what the last one left, on another port. */
  restart(): Promise<void>
}

export interface OwnGatewayOptions {
  readonly database?: string
  readonly core?: number
  readonly exposeGc?: boolean
  readonly limits?: WireLimits
  /** Lets agents call what is mounted for them. */
  readonly allowsCalls?: boolean
  /** Started on what is there already; left out: on a new folder. It goes away with the gateway in any case. */
  readonly folder?: string
}

export async function openOwnGateway(options: OwnGatewayOptions = {}): Promise<OwnGateway> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'parley-own-')))
  const start = (more: readonly string[]): Promise<Program> => {
    const database = options.database === undefined ? [] : ['--database', options.database]
    const flags = options.exposeGc === true ? ['--expose-gc'] : []
    const limits = ['--limits', JSON.stringify(options.limits ?? {})]
    const gate = options.allowsCalls === true ? ['--allows-calls'] : []
    const command = [process.execPath, ...flags, GATEWAY, '--data', folder, ...database, ...limits, ...gate, ...more]
    return startProgram(command, options.core === undefined ? {} : { core: options.core })
  }
  let program = await start([])
  const { token, judge_token: judgeToken, ...first } = Ready.parse(program.ready)
  let at = first
  return {
    folder,
    token,
    judgeToken,
    get program() {
      return program
    },
    get url() {
      return at.url
    },
    get mcp() {
      return at.mcp
    },
    get ws() {
      return at.ws
    },
    restart: async () => {
      program = await start(['--keep-tokens'])
      at = ReadyAgain.parse(program.ready)
    },
    [Symbol.asyncDispose]: async () => {
      await program.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
