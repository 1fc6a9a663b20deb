import Ajv from 'ajv'
import { describe, expect, it } from 'vitest'
import schema from './getUserAgent.schema.json'
import { absentChecks, liveChecks, observedChecks } from './support/index.ts'

const ajv = new Ajv()

describe('MCP Contract: getUserAgent', () => {
  it('should validate valid request', () => {
    const request = {}
    const validate = ajv.compile(schema.request)
    expect(validate(request)).toBe(true)
  })

  it('should reject invalid request', () => {
    const request = { verbose: true }
    const validate = ajv.compile(schema.request)
    expect(validate(request)).toBe(false)
  })

  it('should validate valid response', () => {
    const response = { userAgent: 'codex_cli_rs/0.44.0' }
    const validate = ajv.compile(schema.response)
    expect(validate(response)).toBe(true)
  })

  it('should reject invalid response', () => {
    const response = { userAgent: '' }
    const validate = ajv.compile(schema.response)
    expect(validate(response)).toBe(false)
  })
})

describe.each(observedChecks('getUserAgent'))('real Codex $version', ({ checks }) => {
  it.each(checks)('$what', ({ wrong }) => {
    expect(wrong()).toEqual([])
  })
})

describe.each(absentChecks('getUserAgent'))('real Codex $version, which does not have it', ({ checks }) => {
  it.each(checks)('$what', ({ wrong }) => {
    expect(wrong()).toEqual([])
  })
})

describe.each(liveChecks('getUserAgent'))('parley app-server answers as $dialect', ({ checks }) => {
  it.each(checks)('$what', async ({ wrong }) => {
    expect(await wrong()).toEqual([])
  })
})
