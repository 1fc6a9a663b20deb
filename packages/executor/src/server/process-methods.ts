import type { JsonObject, JsonValue } from '@parley/protocol'
import { type Environment, environmentOf } from '../api/env-policy.ts'
import { refusal } from '../api/error-code.ts'
import { pathOf } from '../api/file-uri.ts'
import {
  paramsOf,
  ProcessReadParams,
  ProcessSignalParams,
  ProcessStartParams,
  ProcessTerminateParams,
  ProcessWriteParams,
} from '../api/params.ts'
import { readAnswerOf } from '../api/wire-event.ts'
import { type ExecSpec, StartRefused } from '../backend/exec-spec.ts'
import { SignalRefused } from '../backend/stream-process.ts'
import { ProcessError } from '../local/processes.ts'
import type { ExecProcess } from '../process/exec-process.ts'
import type { InTurn } from './answer-line.ts'
import type { Session } from './session.ts'

/** What a method knows of who asks. */
export interface RequestLink {
  /** The variables of the executor. */
  readonly base: Environment
  /** Aborted when the connection has ended: nobody hears an answer any more. */
  readonly signal: AbortSignal
  readonly inTurn: InTurn
}

type ProcessMethod = (session: Session, params: JsonObject, link: RequestLink) => Promise<JsonValue>

/** `process/*`, by name. */
export const PROCESS_METHODS: ReadonlyMap<string, ProcessMethod> = new Map<string, ProcessMethod>([
  ['process/start', start],
  ['process/read', read],
  ['process/write', write],
  ['process/signal', signal],
  ['process/terminate', terminate],
])

async function start(session: Session, params: JsonObject, { base }: RequestLink): Promise<JsonValue> {
  const spec = specOf(params, base)
  try {
    await session.start(spec)
  } catch (error) {
    if (error instanceof StartRefused) throw refusal('invalidParams', error.message)
    if (error instanceof ProcessError) throw refusal(error.code === 'invalid_spec' ? 'invalidParams' : 'internal', error.message)
    throw error
  }
  return { processId: spec.processId, sandboxType: 'none' }
}

function specOf(params: JsonObject, base: Environment): ExecSpec {
  const { argv, cwd, env, envPolicy, arg0, sandbox, managedNetwork, enforceManagedNetwork, retainBytes, ...rest } = paramsOf(
    ProcessStartParams,
    params,
  )
  const [command, ...args] = argv
  if (command === undefined) throw refusal('invalidParams', 'argv must not be empty')
  if (arg0 !== null && arg0 !== undefined && arg0 !== command)
    throw refusal('invalidParams', 'arg0: a program is called by its own name here; leave it out')
  // Whoever asks to be held must not run unheld.
  for (const [field, value] of Object.entries({ sandbox, managedNetwork, enforceManagedNetwork }))
    if (value !== undefined && value !== null && value !== false)
      throw refusal('invalidParams', `${field}: this executor has none; leave it out`)
  return {
    ...rest,
    argv: [command, ...args],
    cwd: pathOf(cwd, 'cwd'),
    env: environmentOf(base, env, envPolicy),
    ...(retainBytes === undefined ? {} : { retainBytes }),
  }
}

async function read(session: Session, params: JsonObject, { signal: ended, inTurn }: RequestLink): Promise<JsonValue> {
  const { processId, afterSeq: after, maxBytes, waitMs } = paramsOf(ProcessReadParams, params)
  const process = running(session, processId)
  if (process === undefined) throw refusal('invalidRequest', `unknown process id ${processId}`)
  const afterSeq = after ?? 0
  // Nothing is taken from it yet: what waits for its turn must not hold what is given up meanwhile.
  if (typeof waitMs === 'number' && waitMs > 0) await process.read({ afterSeq, waitMs, signal: ended, maxBytes: 0 })
  return inTurn(async () => readAnswerOf(await process.read({ afterSeq, ...(typeof maxBytes === 'number' ? { maxBytes } : {}) })))
}

async function write(session: Session, params: JsonObject): Promise<JsonValue> {
  const { processId, chunk, writeId } = paramsOf(ProcessWriteParams, params)
  const process = session.process(processId)
  if (process === undefined) return { status: 'unknownProcess' }
  if (process === 'starting') return { status: 'starting' }
  return { status: await process.write(Buffer.from(chunk, 'base64'), writeId) }
}

async function signal(session: Session, params: JsonObject): Promise<JsonValue> {
  const { processId, signal: name } = paramsOf(ProcessSignalParams, params)
  try {
    await running(session, processId)?.signal(name)
  } catch (error) {
    if (error instanceof SignalRefused) throw refusal('invalidRequest', error.message)
    throw error
  }
  return {}
}

async function terminate(session: Session, params: JsonObject): Promise<JsonValue> {
  const { processId, force } = paramsOf(ProcessTerminateParams, params)
  return { running: (await running(session, processId)?.terminate({ force })) ?? false }
}

function running(session: Session, processId: string): ExecProcess | undefined {
  const process = session.process(processId)
  return process === 'starting' ? undefined : process
}
