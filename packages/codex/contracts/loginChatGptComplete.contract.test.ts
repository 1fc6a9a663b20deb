import Ajv from 'ajv'
import { describe, expect, it } from 'vitest'
import schema from './loginChatGptComplete.schema.json'
import { absentChecks, liveChecks, observedChecks } from './support/index.ts'

const ajv = new Ajv()

describe('MCP Contract: loginChatGptComplete', () => {
  it('should validate valid request', () => {
    const request = { loginId: '01a1e073-7a42-7000-8000-000000000001', success: false, error: 'cancelled' }
    const validate = ajv.compile(schema.request)
    expect(validate(request)).toBe(true)
  })

  it('should reject invalid request', () => {
    const request = { success: true }
    const validate = ajv.compile(schema.request)
    expect(validate(request)).toBe(false)
  })

  it('should validate valid response', () => {
    const response = null
    const validate = ajv.compile(schema.response)
    expect(validate(response)).toBe(true)
  })

  it('should reject invalid response', () => {
    const response = {}
    const validate = ajv.compile(schema.response)
    expect(validate(response)).toBe(false)
  })
})

describe.each(observedChecks('loginChatGptComplete'))('real Codex $version', ({ checks }) => {
  it.each(checks)('$what', ({ wrong }) => {
    expect(wrong()).toEqual([])
  })
})

describe.each(absentChecks('loginChatGptComplete'))('real Codex $version, which does not have it', ({ checks }) => {
  it.each(checks)('$what', ({ wrong }) => {
    expect(wrong()).toEqual([])
  })
})

describe.each(liveChecks('loginChatGptComplete'))('parley app-server answers as $dialect', ({ checks }) => {
  it.each(checks)('$what', async ({ wrong }) => {
    expect(await wrong()).toEqual([])
  })
})
