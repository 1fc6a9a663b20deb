import Ajv from 'ajv'
import { describe, expect, it } from 'vitest'
import schema from './listConversations.schema.json'
import { absentChecks, liveChecks, observedChecks } from './support/index.ts'

const ajv = new Ajv()

describe('MCP Contract: listConversations', () => {
  it('should validate valid request', () => {
    const request = { status: 'active', model: 'gpt-5' }
    const validate = ajv.compile(schema.request)
    expect(validate(request)).toBe(true)
  })

  it('should reject invalid request', () => {
    const request = { status: 'asleep' }
    const validate = ajv.compile(schema.request)
    expect(validate(request)).toBe(false)
  })

  it('should validate valid response', () => {
    const response = {
      conversations: [
        { id: '01a1e073-7a42-7000-8000-000000000001', model: 'gpt-5', createdAt: '2026-01-01T00:00:00Z', status: 'idle' },
      ],
    }
    const validate = ajv.compile(schema.response)
    expect(validate(response)).toBe(true)
  })

  it('should reject invalid response', () => {
    const response = { conversations: [{ model: 'gpt-5' }] }
    const validate = ajv.compile(schema.response)
    expect(validate(response)).toBe(false)
  })
})

describe.each(observedChecks('listConversations'))('real Codex $version', ({ checks }) => {
  it.each(checks)('$what', ({ wrong }) => {
    expect(wrong()).toEqual([])
  })
})

describe.each(absentChecks('listConversations'))('real Codex $version, which does not have it', ({ checks }) => {
  it.each(checks)('$what', ({ wrong }) => {
    expect(wrong()).toEqual([])
  })
})

describe.each(liveChecks('listConversations'))('parley app-server answers as $dialect', ({ checks }) => {
  it.each(checks)('$what', async ({ wrong }) => {
    expect(await wrong()).toEqual([])
  })
})
