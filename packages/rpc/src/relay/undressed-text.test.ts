import { isJsonObject, parseJson } from '@parley/protocol'
import { expect, test } from 'vitest'
import { undressedText } from './undressed-text.ts'

const INFO = '"io.modelcontextprotocol/serverInfo":{"name":"parley","version":"1"}'
const replyOf = (text: string) => {
  const result = parseJson(text)
  if (!isJsonObject(result)) throw new Error(`${text} is no result`)
  return { result, text }
}

test.for([
  [
    '{"content":[{"type":"text","text":"said: \\"_meta\\" and \\"resultType\\""}]}',
    '{"content":[{"type":"text","text":"said: \\"_meta\\" and \\"resultType\\""}]}',
  ],
  ['{"content":[],"isError":true}', '{"content":[],"isError":true}'],
  ['{}', '{}'],
])('a result as our own side dresses it comes out of its clothes: %s', ([own, expected]) => {
  const inside = (own ?? '').slice(1, -1)
  const text = `{"resultType":"complete",${inside === '' ? '' : `${inside},`}"_meta":{${INFO}}}`
  expect(undressedText(replyOf(text))?.text).toBe(expected)
})

test.for([
  ['another kind of result', `{"resultType":"input_required","content":[],"_meta":{${INFO}}}`],
  ['a second resultType', `{"resultType":"complete","resultType":"complete","_meta":{${INFO}}}`],
  ['how long it is good for', `{"resultType":"complete","resources":[],"ttlMs":0,"cacheScope":"private","_meta":{${INFO}}}`],
  ['an entry of its own in _meta', `{"resultType":"complete","content":[],"_meta":{${INFO},"more":1}}`],
  ['a second _meta', `{"resultType":"complete","_meta":{"more":1},"content":[],"_meta":{${INFO}}}`],
  ['a _meta further in', `{"resultType":"complete","content":[{"type":"text","text":"","_meta":{${INFO}}}]}`],
  ['a _meta further in and one around it', `{"resultType":"complete","a":{"b":1,"_meta":{${INFO}}},"_meta":{${INFO}}}`],
  ['members in another order', `{"content":[],"resultType":"complete","_meta":{${INFO}}}`],
  ['space between members', `{"resultType":"complete", "content":[],"_meta":{ ${INFO}}}`],
  ['none of it', '{"content":[]}'],
] as const)('what is laid out in another way is left to be written anew: %s', ([, text]) => {
  expect(undressedText(replyOf(text))).toBeUndefined()
})
