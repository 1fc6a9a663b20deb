import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { peerFor } from '../../../../scripts/peers/peer-or-skip.ts'
import type { ObservedVersion } from '../../src/contract/registry-types.ts'
import { codexBinary } from '../../src/testing/index.ts'
import { citedOf, sha256 } from './cited.ts'

const PEERS = { '0.42.0': 'codex-0.42', '0.44.0': 'codex-0.44', '0.153.4': 'codex-0.153', '0.166.0': 'codex-0.166' } as const
const run = promisify(execFile)

/** What a real Codex says of its own types is what the contracts cite of it. */
export function ownTypes(version: ObservedVersion): void {
  describe(`the types that Codex ${version} itself writes`, () => {
    areCited(version)
  })
}

function areCited(version: ObservedVersion): void {
  const made: string[] = []
  afterAll(() => Promise.all(made.map((folder) => rm(folder, { recursive: true, force: true }))))

  it('are those that are cited', async (test) => {
    const sources = citedOf('binary').filter(({ source }) => source.version === version)
    const [first] = sources
    if (first === undefined) throw new Error(`nothing is cited from ${version}`)
    const folder = await writeTypes(test, version, first.source.generator)
    made.push(folder)
    const wrong: string[] = []
    for (const { by, source } of sources)
      if (sha256(await readFile(join(folder, source.file), 'utf8')) !== source.sha256) wrong.push(`${by}: ${source.file}`)
    expect(wrong).toEqual([])
  })
}

async function writeTypes(test: { skip(note: string): never }, version: ObservedVersion, generator: string): Promise<string> {
  const { command, args } = codexBinary(await peerFor(test, PEERS[version]))
  const folder = await mkdtemp(join(tmpdir(), 'codex-types-'))
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, CODEX_HOME: folder }
  await run(command, [...args, ...generator.split(' '), '--out', folder], { env })
  return folder
}
