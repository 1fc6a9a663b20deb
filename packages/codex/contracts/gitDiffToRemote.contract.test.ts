import Ajv from 'ajv'
import { describe, expect, it } from 'vitest'
import schema from './gitDiffToRemote.schema.json'
import { absentChecks, liveChecks, observedChecks } from './support/index.ts'

const ajv = new Ajv()

describe('MCP Contract: gitDiffToRemote', () => {
  it('should validate valid request', () => {
    const request = { cwd: '/WORK/repo' }
    const validate = ajv.compile(schema.request)
    expect(validate(request)).toBe(true)
  })

  it('should reject invalid request', () => {
    const request = {}
    const validate = ajv.compile(schema.request)
    expect(validate(request)).toBe(false)
  })

  it('should validate valid response', () => {
    const response = { sha: '1111111111111111111111111111111111111111', diff: '' }
    const validate = ajv.compile(schema.response)
    expect(validate(response)).toBe(true)
  })

  it('should reject invalid response', () => {
    const response = { sha: 'main', diff: '' }
    const validate = ajv.compile(schema.response)
    expect(validate(response)).toBe(false)
  })
})

describe.each(observedChecks('gitDiffToRemote'))('real Codex $version', ({ checks }) => {
  it.each(checks)('$what', ({ wrong }) => {
    expect(wrong()).toEqual([])
  })
})

describe.each(absentChecks('gitDiffToRemote'))('real Codex $version, which does not have it', ({ checks }) => {
  it.each(checks)('$what', ({ wrong }) => {
    expect(wrong()).toEqual([])
  })
})

describe.each(liveChecks('gitDiffToRemote'))('parley app-server answers as $dialect', ({ checks }) => {
  it.each(checks)('$what', async ({ wrong }) => {
    expect(await wrong()).toEqual([])
  })
})
