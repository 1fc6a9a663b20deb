import { type JsonObject, isJsonObject, parseJson } from '@parley/protocol'
import { Agent, request } from 'undici'
import { ARGUMENTS, type Asked, PROMPT, measure } from './asked.ts'

/** Writes what is new of one conversation; the next step waits for it. */
export type Note = (news: readonly object[]) => Promise<void> | undefined

/** A bare client of the Responses API that makes the very requests that the engine makes, without any engine. */
export async function runRaw(asked: Asked, openNote: () => Promise<Note>): Promise<void> {
  const dispatcher = new Agent({ connections: asked.conversations })
  await measure(asked, async () => {
    const note = await openNote()
    const input: object[] = []
    return async () => {
      let news: object[] = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: PROMPT }] }]
      while (news.length > 0) {
        input.push(...news)
        await note(news)
        const items = await ask(asked, dispatcher, input)
        input.push(...items)
        await note(items)
        news = items
          .filter((item) => item['type'] === 'function_call')
          .map((item) => ({ type: 'function_call_output', call_id: item['call_id'], output: ARGUMENTS.text }))
      }
    }
  })
  await dispatcher.destroy()
}

async function ask({ url, request: fields }: Asked, dispatcher: Agent, input: readonly object[]): Promise<JsonObject[]> {
  const answer = await request(`${url}/responses`, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer bench', accept: 'text/event-stream' },
    body: JSON.stringify({ ...fields, input }),
  })
  if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}: ${await answer.body.text()}`)
  const items: JsonObject[] = []
  let rest = ''
  let isComplete = false
  answer.body.setEncoding('utf8')
  for await (const piece of answer.body) {
    const blocks = (rest + String(piece)).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = block.slice(block.indexOf('data: ') + 6)
      const event = parseJson(data)
      if (!isJsonObject(event)) continue
      if (event['type'] === 'response.output_item.done' && isJsonObject(event['item'])) items.push(event['item'])
      if (event['type'] === 'response.completed') isComplete = true
    }
  }
  if (!isComplete) throw new Error('the answer broke off')
  return items
}
