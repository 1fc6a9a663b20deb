import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { registry } from '../src/registry/registry.ts'
import { NAMES } from '../src/registry/registry-types.ts'
import { citedOf, sha256 } from './fixture/cited.ts'
import { ownTypes } from './fixture/own-types.ts'

const here = (path: string): Promise<string> => readFile(new URL(path, import.meta.url), 'utf8')

describe('where the contracts come from', () => {
  it('each recording has the line that is cited', async () => {
    const wrong: string[] = []
    for (const { by, source } of citedOf('recording')) {
      const line = (await here(`recordings/${source.file}`)).split('\n')[source.line - 1]
      if (line === undefined || sha256(line) !== source.sha256) wrong.push(`${by}: ${source.file}:${source.line}`)
    }
    expect(citedOf('recording').length).toBeGreaterThan(100)
    expect(wrong).toEqual([])
  })

  it('each document has the lines that are cited', async () => {
    const wrong: string[] = []
    for (const { by, source } of citedOf('document')) {
      const kept = new Map((await here(`sources/${source.copy}`)).split('\n').map((line) => splitOnce(line)))
      const [from, to] = source.lines
      const lines = Array.from({ length: to - from + 1 }, (_, index) => kept.get(String(from + index)))
      if (lines.includes(undefined) || sha256(lines.join('\n')) !== source.sha256)
        wrong.push(`${by}: ${source.path}:${from}-${to}`)
    }
    expect(citedOf('document').length).toBe(23)
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

ownTypes('0.166.0')

function splitOnce(line: string): readonly [string, string] {
  const at = line.indexOf('|')
  return [line.slice(0, at), line.slice(at + 1)]
}
