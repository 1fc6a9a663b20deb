import { readFileSync, readdirSync } from 'node:fs'
import Ajv from 'ajv'
import { describe, expect, it } from 'vitest'
import { parseRecording } from '../src/testing/traffic.ts'
import { scenariosOf } from '../src/record/scenarios/index.ts'
import { NAMES, OBSERVED_VERSIONS } from '../src/registry/registry-types.ts'
import { registry } from '../src/registry/registry.ts'

const folder = new URL('.', import.meta.url)
const filesIn = (path: string): string[] => readdirSync(new URL(path, folder)).toSorted()

const said: string[] = []
const log = (...words: readonly unknown[]): void => void said.push(words.map(String).join(' '))
/** As by default, but what it would print is kept. */
const ajv = new Ajv({ logger: { log, warn: log, error: log } })

function complaints(schema: object): readonly string[] {
  ajv.compile(schema)
  return said.splice(0)
}

describe('the files of the registry', () => {
  it('there is one schema and one test for each name, and nothing else', () => {
    const named = (ending: string): string[] => NAMES.map((name) => `${name}${ending}`).toSorted()
    expect(filesIn('.').filter((file) => file.endsWith('.schema.json'))).toEqual(named('.schema.json'))
    expect(filesIn('.').filter((file) => file.endsWith('.contract.test.ts'))).toEqual(named('.contract.test.ts'))
    for (const version of OBSERVED_VERSIONS) expect(filesIn(`observed/${version}`)).toEqual(named('.schema.json'))
  })

  it.each(NAMES)('%s: each schema compiles alone under a default Ajv, without a word', (name) => {
    const { request, response } = registry.declared(name)
    const schemas = [request, response]
    for (const version of OBSERVED_VERSIONS) {
      const observed = registry.observed(name, version)
      schemas.push(
        observed.request ?? {},
        observed.response ?? {},
        observed.toolCall ?? {},
        ...Object.values(observed.events ?? {}),
      )
    }
    expect(schemas.flatMap(complaints)).toEqual([])
  })

  it('codex/event declares 36 types, and 15 of them say what they need', () => {
    const { request } = registry.declared('codex-event')
    expect(request).toMatchObject({
      properties: { type: { enum: expect.toSatisfy((all: string[]) => new Set(all).size === 36) } },
    })
    expect(request['allOf']).toHaveLength(15)
    expect(Object.keys(registry.observed('codex-event', '0.42.0').events ?? {})).toHaveLength(36)
    expect(Object.keys(registry.observed('codex-event', '0.44.0').events ?? {})).toHaveLength(37)
  })

  it.each(OBSERVED_VERSIONS)('%s has one recording for each of its scenarios', (version) => {
    const scenarios = scenariosOf(version).map(({ name }) => `${name}.jsonl`)
    expect(filesIn(`recordings/${version}`)).toEqual(scenarios.toSorted())
    for (const file of filesIn(`recordings/${version}`)) {
      const { header, lines } = parseRecording(readFileSync(new URL(`recordings/${version}/${file}`, folder), 'utf8'))
      expect(header).toMatchObject({ version, codex: `codex-cli ${version}`, scenario: file.replace('.jsonl', '') })
      expect(lines.length).toBeGreaterThan(1)
    }
  })

  it('no recording holds a secret or a path of a machine', () => {
    const found = OBSERVED_VERSIONS.flatMap((version) =>
      filesIn(`recordings/${version}`).flatMap((file) => {
        const text = readFileSync(new URL(`recordings/${version}/${file}`, folder), 'utf8')
        const paths = text.match(/"\/(tmp|home|root|var|usr|Users)\b[^"]*"/g) ?? []
        const keys = (text.match(/\bsk-[\w-]+/g) ?? []).filter((key) => key !== 'sk-of-nobody')
        return [...paths, ...keys].map((what) => `${version}/${file}: ${what}`)
      }),
    )
    expect(found).toEqual([])
  })
})
