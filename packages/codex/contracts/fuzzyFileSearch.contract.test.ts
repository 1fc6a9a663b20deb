import Ajv from 'ajv'
import { describe, expect, it } from 'vitest'
import schema from './fuzzyFileSearch.schema.json'
import { absentChecks, liveChecks, observedChecks } from './support/index.ts'

const ajv = new Ajv()

describe('MCP Contract: fuzzyFileSearch', () => {
  it('should validate valid request', () => {
    const request = { query: 'rank', roots: ['/WORK/repo'] }
    const validate = ajv.compile(schema.request)
    expect(validate(request)).toBe(true)
  })

  it('should reject invalid request', () => {
    const request = { query: 'rank' }
    const validate = ajv.compile(schema.request)
    expect(validate(request)).toBe(false)
  })

  it('should validate valid response', () => {
    const response = { files: [] }
    const validate = ajv.compile(schema.response)
    expect(validate(response)).toBe(true)
  })

  it('should reject invalid response', () => {
    const response = { files: [{ path: 'a' }] }
    const validate = ajv.compile(schema.response)
    expect(validate(response)).toBe(false)
  })
})

describe.each(observedChecks('fuzzyFileSearch'))('real Codex $version', ({ checks }) => {
  it.each(checks)('$what', ({ wrong }) => {
    expect(wrong()).toEqual([])
  })
})

describe.each(absentChecks('fuzzyFileSearch'))('real Codex $version, which does not have it', ({ checks }) => {
  it.each(checks)('$what', ({ wrong }) => {
    expect(wrong()).toEqual([])
  })
})

describe.each(liveChecks('fuzzyFileSearch'))('parley app-server answers as $dialect', ({ checks }) => {
  it.each(checks)('$what', async ({ wrong }) => {
    expect(await wrong()).toEqual([])
  })
})
