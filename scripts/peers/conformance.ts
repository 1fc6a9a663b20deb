import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Peer } from './peer.ts'

/**
 * Runs the official conformance suite against a server.
 *
 * - 0.1.16: `conformance server --url U --suite active` runs 30 scenarios: its 32 less two that it marks pending
 *   (`json-schema-2020-12`, `server-sse-polling`).
 * - 0.2.0-alpha.12: `conformance server --url U --requirements 2025-11-25` runs 30 scored scenarios and 3 that are not
 *   scored; `--requirements 2026-07-28` runs 37 and 13 (the tasks extension and what the suite marks pending). Which are
 *   scored is in the package's own `requirements/REVISION.yaml`. Every message is also checked against the revision's schema.
 *
 * A scenario fails when one of its checks has the status FAILURE; warnings do not count. Exit codes mix that with crashes of
 * the suite, so we read `checks.json` of each scenario instead, and the list of scenarios from what the suite says it runs.
 * It cannot send headers: the server must be open, on loopback, and it is told what to offer by the suite's fixed names
 * (`test_simple_text`, `test://static-text`, …).
 */
export interface ServerRun {
  readonly peer: Peer
  readonly url: string
  readonly set: ScenarioSet
  /** Only this one; otherwise the whole set. */
  readonly scenario?: string
}
export type ScenarioSet =
  | { readonly suite: 'active' | 'pending' | 'all' }
  | { readonly requirements: '2025-11-25' | '2026-07-28' }

export interface ScenarioResult {
  readonly scenario: string
  readonly passed: boolean
  /** False for what the frozen set runs for information only. */
  readonly scored: boolean
  readonly failures: readonly string[]
  readonly warnings: readonly string[]
}

const RUN_TIMEOUT_MS = 5 * 60_000
const KEPT_OUTPUT_CHARS = 1024 * 1024

/** Runs the set and answers one result per scenario, in the suite's order. Throws when the suite itself did not run. */
export async function runServerScenarios(run: ServerRun): Promise<readonly ScenarioResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-conformance-'))
  try {
    const output = await conformance(run.peer, [...argumentsOf(run), '--output-dir', folder])
    const scored = 'requirements' in run.set ? await scoredOf(run.peer, run.set.requirements) : undefined
    const names = run.scenario === undefined ? namesIn(output) : [run.scenario]
    if (names.length === 0) throw new Error(`the conformance suite ran nothing:\n${output.slice(-2_000)}`)
    const folders = await readdir(folder)
    return await Promise.all(names.map((name) => resultOf(name, folder, folders, scored?.has(name) ?? true)))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function argumentsOf(run: ServerRun): readonly string[] {
  const args = ['server', '--url', run.url]
  if (run.scenario !== undefined) {
    const version = 'requirements' in run.set ? ['--spec-version', run.set.requirements] : []
    return [...args, '--scenario', run.scenario, ...version]
  }
  return 'requirements' in run.set ? [...args, '--requirements', run.set.requirements] : [...args, '--suite', run.set.suite]
}

function conformance(peer: Peer, args: readonly string[]): Promise<string> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [peer.bin('conformance'), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: RUN_TIMEOUT_MS,
    })
    let output = ''
    const keep = (chunk: string): void => {
      output = `${output}${chunk}`.slice(-KEPT_OUTPUT_CHARS)
    }
    child.stdout.setEncoding('utf8').on('data', keep)
    child.stderr.setEncoding('utf8').on('data', keep)
    child.on('error', fail)
    child.on('close', (code) => {
      if (code === 0 || code === 1) done(output)
      else fail(new Error(`the conformance suite ended with ${code}:\n${output.slice(-2_000)}`))
    })
  })
}

function namesIn(output: string): readonly string[] {
  return [...output.matchAll(/^=== Running scenario: (\S+) ===$/gm)].map((match) => match[1] ?? '')
}

/** The `server:` list of the set's own file: scalars under one key, so no YAML parser is needed. */
async function scoredOf(peer: Peer, revision: string): Promise<ReadonlySet<string>> {
  const text = await readFile(
    join(peer.dir, 'node_modules/@modelcontextprotocol/conformance/requirements', `${revision}.yaml`),
    'utf8',
  )
  const list = /^server:\n((?: {2}- .+\n)+)/m.exec(text)?.[1]
  if (list === undefined) throw new Error(`${revision}.yaml of the conformance suite has no server list`)
  return new Set(
    list
      .trim()
      .split('\n')
      .map((line) => line.replace(/^\s*- /, '').trim()),
  )
}

interface Check {
  readonly id: string
  readonly status: string
  readonly message: string
}

async function resultOf(scenario: string, folder: string, folders: readonly string[], scored: boolean): Promise<ScenarioResult> {
  // The folder is named server-SCENARIO-TIME, and one scenario's name may start another's.
  const own = folders.find(
    (name) => /^-\d{4}-/.test(name.slice(`server-${scenario}`.length)) && name.startsWith(`server-${scenario}-`),
  )
  const text = own === undefined ? undefined : await readFile(join(folder, own, 'checks.json'), 'utf8').catch(() => undefined)
  // A scenario that throws leaves no checks: that is a failure of the server as much as a failed check is.
  if (text === undefined) return { scenario, passed: false, scored, failures: ['the scenario did not finish'], warnings: [] }
  const checks = parseChecks(JSON.parse(text))
  const withStatus = (status: string): string[] =>
    checks.filter((check) => check.status === status).map((check) => `${check.id}: ${check.message}`)
  const failures = withStatus('FAILURE')
  const ran = checks.some(
    (check) => check.status === 'SUCCESS' || check.status === 'INFO' || check.status === 'SKIPPED' || check.status === 'WARNING',
  )
  return { scenario, passed: failures.length === 0 && ran, scored, failures, warnings: withStatus('WARNING') }
}

function parseChecks(value: unknown): readonly Check[] {
  if (!Array.isArray(value)) throw new Error('checks.json is not a list')
  return value.map((entry: unknown) => {
    const check = typeof entry === 'object' && entry !== null ? entry : {}
    return { id: textOf(check, 'id'), status: textOf(check, 'status'), message: textOf(check, 'errorMessage') }
  })
}

function textOf(record: object, key: string): string {
  const value: unknown = Object.getOwnPropertyDescriptor(record, key)?.value
  return typeof value === 'string' ? value : ''
}
