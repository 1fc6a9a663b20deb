import { existsSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import {
  type Basis,
  type CheckReport,
  type MethodVerdict,
  OBSERVED_VERSIONS,
  type Server,
  basisOf,
  checkServer,
  recordScenario,
  scenariosOf,
} from '@parley/contracts'
import { type Processes, openProcesses } from '@parley/executor'
import { settlesWithin } from '@parley/protocol'
import { CommandError, type Invocation, noneOf, pathFailure, usageError } from '@parley/command-line'
import { splitWords } from '@parley/command-line/commands'
import { type NamedCodex, namedCodex } from '../../contracts/named-codex.ts'
import { openWorldsHere } from '../../contracts/open-worlds-here.ts'
import { basisFor } from '../../contracts/version-option.ts'
import { type Screen, columns } from '@parley/screen'

const DRIFT_EXIT = 1
const PROCESSES_MAX = 32
const GRACE_MS = 500
/** What is left to do after a signal may take this long. */
const LEAVING_MS = 3_000

interface Subject {
  readonly server: Server
  /** Of the server, as far as it is known. */
  readonly version: string
  readonly known: boolean
  readonly basis: Basis
  readonly notes: readonly string[]
}

/** Whether a server is what its version was when it was recorded. */
export async function contractsCheck(invocation: Invocation): Promise<number> {
  const { io, values } = invocation
  return withProcesses(invocation, async (processes) => {
    const { server, version, known, basis, notes } = await subjectOf(invocation, processes)
    for (const note of notes) io.err(`${note}\n`)
    await using worlds = await openWorldsHere(io, processes, server)
    const onScenario = ({ scenario, ended, note }: { scenario: string; ended: boolean; note: string }): void => {
      if (!ended) io.err(`${scenario} did not come to its end: ${note}\n`)
    }
    const measure = server.isWhole && !values.has('exact') ? 'compatible' : 'same'
    const report = await checkServer({ basis: basis.version, measure, openWorld: worlds.open, onScenario })
    if (values.has('json')) io.out(`${JSON.stringify({ codexVersion: version, known, exact: basis.exact, ...report })}\n`)
    else io.out(reportText(report, version, io.screen()))
    return report.drift ? DRIFT_EXIT : 0
  })
}

/** The recordings of a real Codex, made again. */
export async function contractsRecord(invocation: Invocation): Promise<number> {
  const { io, values } = invocation
  const [out, codex] = [values.text('out'), values.text('codex')]
  if (out === undefined) throw usageError('contracts record needs --out', '--out recordings')
  if (codex === undefined) throw usageError('contracts record needs --codex', '--codex codex')
  return withProcesses(invocation, async (processes) => {
    const found = await namedCodex(io, processes, codex, values.text('codex-version'))
    const basis = basisIn(found)
    const wanted = values.all('scenario')
    const all = scenariosOf(basis.version)
    const unknown = wanted.find((name) => !all.some((scenario) => scenario.name === name))
    if (unknown !== undefined)
      throw noneOf(
        '--scenario',
        unknown,
        all.map(({ name }) => name),
      )
    const folder = join(resolve(io.cwd, out), found.version.text)
    await mkdir(folder, { recursive: true }).catch((error: unknown) => {
      throw pathFailure(`--out ${out}`, error)
    })
    await using worlds = await openWorldsHere(io, processes, { command: found.path, args: [], isWhole: false })
    const written: string[] = []
    for (const scenario of all.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
      const saying = { codex: `codex-cli ${found.version.text}`, version: found.version.text }
      const text = await recordScenario({ scenario, ...saying, openWorld: worlds.open }).catch((error: unknown) => {
        throw stuckError(scenario.name, error)
      })
      const path = join(folder, `${scenario.name}.jsonl`)
      // A recording that is cut in the middle would look like a whole one.
      await writeFile(`${path}.part`, text)
      await rename(`${path}.part`, path)
      written.push(path)
      if (!values.has('json')) io.out(`${path}\n`)
    }
    if (values.has('json')) io.out(`${JSON.stringify({ codexVersion: found.version.text, files: written })}\n`)
    return 0
  })
}

function stuckError(scenario: string, error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && error.code === 'scenario_stuck')) return error
  const message = `${scenario} did not come to its end: ${error.message.split('\n')[0]}`
  return new CommandError('scenario_stuck', message, { hint: 'parley contracts check says how this Codex differs', cause: error })
}

async function withProcesses({ io }: Invocation, use: (processes: Processes) => Promise<number>): Promise<number> {
  const processes = await openProcesses({ maxProcesses: PROCESSES_MAX })
  const stopped = Promise.withResolvers<number>()
  const ignore = io.onSignal((signal) =>
    stopped.reject(new CommandError('interrupted', `stopped by ${signal}`, { exitCode: 130 })),
  )
  const running = use(processes)
  try {
    return await Promise.race([running, stopped.promise])
  } finally {
    ignore()
    await processes.close(GRACE_MS)
    // Without its servers it comes to its end at once, and takes its folders with it.
    await settlesWithin(running, LEAVING_MS)
  }
}

async function subjectOf({ io, values }: Invocation, processes: Processes): Promise<Subject> {
  const [codex, command, named] = [values.text('codex'), values.text('command'), values.text('codex-version')]
  if ((codex === undefined) === (command === undefined))
    throw usageError('contracts check needs either --codex or --command', '--codex codex')
  const dialect = values.text('dialect')
  if (codex !== undefined) {
    const found = await namedCodex(io, processes, codex, named)
    const basis = dialect === undefined ? basisIn(found) : basisFor(dialect)
    const { version, known, note } = found
    return {
      server: { command: found.path, args: [], isWhole: false },
      version: version.text,
      known,
      basis,
      notes: [...(note === undefined ? [] : [note]), ...standIn(version.text, basis)],
    }
  }
  const version = dialect ?? named
  if (version === undefined)
    throw usageError('contracts check --command needs --dialect: what the server is compared with', OBSERVED_VERSIONS.join(', '))
  // The server is started in places of its own, where what is named from here is not.
  const placed = (word: string): string =>
    word.includes('/') && existsSync(resolve(io.cwd, word)) ? resolve(io.cwd, word) : word
  const [program = '', ...args] = splitWords(command ?? '').map(placed)
  if (program === '') throw usageError('--command is empty', "--command 'parley app-server --dialect 0.44'")
  const basis = basisFor(version)
  return { server: { command: program, args, isWhole: true }, version, known: true, basis, notes: [] }
}

function basisIn({ version }: NamedCodex): Basis {
  const basis = basisOf(version)
  if (basis === undefined) throw usageError(`nothing is known of Codex ${version.text}`)
  return basis
}

const standIn = (version: string, { exact, version: basis }: Basis): readonly string[] =>
  exact ? [] : [`Codex ${version} was not recorded; it is compared with ${basis}`]

function reportText(
  { basis, drift, methods, envelope, scenarios }: CheckReport,
  version: string,
  screen: Screen | undefined,
): string {
  const head = ['method', 'present', 'request', 'response', 'verdict', 'note']
  const rows = methods.map(({ method, present, request, response, verdict, note }: MethodVerdict) => [
    method,
    present === null ? '?' : present ? 'yes' : 'no',
    request,
    response,
    verdict,
    note,
  ])
  const around = envelope.map((note) => `envelope: ${note}\n`).join('')
  const stuck = scenarios.filter(({ ended, unsupported }) => !ended && unsupported.length === 0).length
  const lacking = methods.flatMap(({ method, verdict }) => (verdict === 'unsupported' ? [method] : []))
  const end = drift
    ? `drift from ${basis}${stuck === 0 ? '' : `; ${stuck} of ${scenarios.length} scenarios did not end`}`
    : `as ${basis} was recorded${lacking.length === 0 ? '' : `, but for what it says it cannot do: ${lacking.join(', ')}`}`
  return `${columns([head, ...rows], screen, { wraps: true })}\n${around}Codex ${version}: ${end}\n`
}
