import { describe, it, expect } from 'vitest'
import Ajv from 'ajv'
import schema from './newConversation.schema.json'

const ajv = new Ajv()

describe('MCP Contract: newConversation', () => {
  it('should validate valid request', () => {
    const request = { model: 'gpt-5', approvalPolicy: 'on-request' }
    const validate = ajv.compile(schema.request)
    expect(validate(request)).toBe(true)
  })

  it('should reject invalid request', () => {
    const request = { model: 123 } // 错误类型
    const validate = ajv.compile(schema.request)
    expect(validate(request)).toBe(false)
  })

  it('should validate valid response', () => {
    const response = { conversationId: 'abc123', model: 'gpt-5' }
    const validate = ajv.compile(schema.response)
    expect(validate(response)).toBe(true)
  })
})
