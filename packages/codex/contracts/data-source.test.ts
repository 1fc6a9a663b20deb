import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { peerFor } from '../../../scripts/peers/peer-or-skip.ts'
import { registry } from '../src/contract/registry.ts'
import { type DataSource, NAMES, OBSERVED_VERSIONS, type ObservedVersion } from '../src/contract/registry-types.ts'
import { codexBinary } from '../src/testing/index.ts'

const PEERS = { '0.42.0': 'codex-0.42', '0.44.0': 'codex-0.44', '0.153.4': 'codex-0.153', '0.166.0': 'codex-0.166' } as const
const run = promisify(execFile)
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const here = (path: string): Promise<string> => readFile(new URL(path, import.meta.url), 'utf8')

const cited: readonly { readonly by: string; readonly source: DataSource }[] = NAMES.flatMap((name) => [
  { by: name, source: registry.declared(name).dataSource },
  ...OBSERVED_VERSIONS.flatMap((version) => {
    const { dataSource, types, errors = [] } = registry.observed(name, version)
    const sources = [dataSource, ...(types === undefined ? [] : [types]), ...errors.map((error) => error.dataSource)]
    return sources.map((source) => ({ by: `${name} of ${version}`, source }))
  }),
])

const of = <Kind extends DataSource['kind']>(kind: Kind) =>
  cited.flatMap(({ by, source }) => (isKind(source, kind) ? [{ by, source }] : []))

function isKind<Kind extends DataSource['kind']>(source: DataSource, kind: Kind): source is Extract<DataSource, { kind: Kind }> {
  return source.kind === kind
}

describe('where the contracts come from', () => {
  it('each recording has the line that is cited', async () => {
    const wrong: string[] = []
    for (const { by, source } of of('recording')) {
      const line = (await here(`recordings/${source.file}`)).split('\n')[source.line - 1]
      if (line === undefined || sha256(line) !== source.sha256) wrong.push(`${by}: ${source.file}:${source.line}`)
    }
    expect(of('recording').length).toBeGreaterThan(100)
    expect(wrong).toEqual([])
  })

  it('each document has the lines that are cited', async () => {
    const wrong: string[] = []
    for (const { by, source } of of('document')) {
      const kept = new Map((await here(`sources/${source.copy}`)).split('\n').map((line) => splitOnce(line)))
      const [from, to] = source.lines
      const lines = Array.from({ length: to - from + 1 }, (_, index) => kept.get(String(from + index)))
      if (lines.includes(undefined) || sha256(lines.join('\n')) !== source.sha256)
        wrong.push(`${by}: ${source.path}:${from}-${to}`)
    }
    expect(of('document').length).toBe(23)
    expect(wrong).toEqual([])
  })

  it('each difference has its line, from one of the versions that it is about', async () => {
    const differences = [...registry.generalDifferences, ...NAMES.flatMap((name) => registry.differences(name))]
    const wrong: string[] = []
    for (const { method, where, versions, evidence } of differences) {
      const line = (await here(`recordings/${evidence.recording}`)).split('\n')[evidence.line - 1]
      const isOfIt = versions.some((version) => evidence.recording.startsWith(`${version}/`))
      if (line === undefined || line === '' || !isOfIt) wrong.push(`${method} ${where}: ${evidence.recording}:${evidence.line}`)
    }
    expect(differences.length).toBeGreaterThan(90)
    expect(wrong).toEqual([])
  })
})

describe.each(OBSERVED_VERSIONS)('the types that Codex %s itself writes', (version) => {
  const made: string[] = []
  afterAll(() => Promise.all(made.map((folder) => rm(folder, { recursive: true, force: true }))))

  it('are those that are cited', async (test) => {
    const sources = of('binary').filter(({ source }) => source.version === version)
    const [first] = sources
    if (first === undefined) throw new Error(`nothing is cited from ${version}`)
    const folder = await writeTypes(test, version, first.source.generator)
    made.push(folder)
    const wrong: string[] = []
    for (const { by, source } of sources)
      if (sha256(await readFile(join(folder, source.file), 'utf8')) !== source.sha256) wrong.push(`${by}: ${source.file}`)
    expect(wrong).toEqual([])
  })
})

async function writeTypes(test: { skip(note: string): never }, version: ObservedVersion, generator: string): Promise<string> {
  const { command, args } = codexBinary(await peerFor(test, PEERS[version]))
  const folder = await mkdtemp(join(tmpdir(), 'codex-types-'))
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, CODEX_HOME: folder }
  await run(command, [...args, ...generator.split(' '), '--out', folder], { env })
  return folder
}

function splitOnce(line: string): readonly [string, string] {
  const at = line.indexOf('|')
  return [line.slice(0, at), line.slice(at + 1)]
}
