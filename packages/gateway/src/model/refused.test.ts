import { KEY_FORMS, type UpstreamAnswer, json, readable, stream } from '@parley/models/testing'
import { describe, expect, test } from 'vitest'
import { MODEL, ModelBench, UPSTREAM_KEY } from '../fixture/model-bench.ts'

const WIRES = ['responses', 'chat'] as const
const OFFERED = { data: [{ id: 'gpt-here' }, { id: 'gpt-there' }] }
const says = (message: string, code: string | null = null, type = 'invalid_request_error'): object => ({
  error: { message, code, type, param: null },
})

/** Answers requests for the list of models as a provider does, and everything else as the test wants. */
const providing =
  (answer: UpstreamAnswer): UpstreamAnswer =>
  (response, request) =>
    request.path.endsWith('/models') ? json(200, OFFERED)(response, request) : answer(response, request)

async function refusedBy(bench: ModelBench, answer: UpstreamAnswer) {
  bench.upstream.answer = providing(answer)
  const got = await bench.ask()
  const text = await got.text()
  expect(text).not.toContain(UPSTREAM_KEY)
  const { error } = JSON.parse(text) as { error: { code: string; message: string } }
  return { status: got.status, code: error.code, message: error.message }
}

/** Nothing is booked, and nothing stays set aside. */
async function expectNothingBooked({ gw, jobId }: ModelBench): Promise<void> {
  expect(await gw.store.usages.totalOf(jobId)).toMatchObject({ calls: 0 })
  await expect.poll(() => gw.store.usages.spentOnJob(jobId)).toEqual({ tokens: 0, microusd: 0 })
}

const SETTINGS = 'it comes from the settings of this gateway: an admin changes that and restarts the gateway'

describe.each(WIRES)('on the %s wire', (wire) => {
  test('what is wrong with a channel is said with its name, the words of the provider and what to do', async () => {
    await using bench = await ModelBench.open({ wire })
    const stars = '*'.repeat(UPSTREAM_KEY.length)
    const cases: [UpstreamAnswer, number, string, string][] = [
      [
        json(401, says(`Incorrect API key provided: ${UPSTREAM_KEY}.`, 'invalid_api_key')),
        424,
        'upstream_unauthorized',
        `the provider refused the key of channel main (HTTP 401, invalid_api_key: “Incorrect API key provided: ${stars}.”); ${SETTINGS}`,
      ],
      [
        json(403, says('Country, region, or territory not supported', 'unsupported_country_region_territory')),
        403,
        'upstream_forbidden',
        `the provider forbids this to the key of channel main (HTTP 403, unsupported_country_region_territory: “Country, region, or territory not supported”); the key may lack the right to ask for ${MODEL}, or the request was blocked; ${SETTINGS}`,
      ],
      [
        json(404, says(`The model ${MODEL} does not exist or you do not have access to it.`, 'model_not_found')),
        404,
        'upstream_model_unknown',
        `channel main does not know the model ${MODEL} (HTTP 404, model_not_found: “The model ${MODEL} does not exist or you do not have access to it.”); it offers gpt-here, gpt-there`,
      ],
      [
        json(404, { error: { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' } }),
        404,
        'upstream_model_unknown',
        `channel main does not know the model ${MODEL} (HTTP 404, DeploymentNotFound: “The API deployment for this resource does not exist.”); it offers gpt-here, gpt-there`,
      ],
      [
        json(400, { error: { code: 400, message: `${MODEL} is not a valid model ID` } }),
        404,
        'upstream_model_unknown',
        `channel main does not know the model ${MODEL} (HTTP 400: “${MODEL} is not a valid model ID”); it offers gpt-here, gpt-there`,
      ],
      [
        json(404, says(`Invalid URL (POST ${bench.path})`)),
        424,
        'upstream_bad_answer',
        `channel main serves no models at its address (HTTP 404: “Invalid URL (POST ${bench.path})”): its base URL is probably wrong (most end in /v1); ${SETTINGS}`,
      ],
      [
        json(402, { error: { code: 402, message: 'Insufficient credits' } }),
        402,
        'upstream_quota',
        `the provider’s account behind channel main has no credit left (HTTP 402: “Insufficient credits”); an admin adds credit there, or sets the key of another account in the settings of this gateway and restarts the gateway`,
      ],
      [
        json(429, says('You exceeded your current quota, please check your plan.', 'insufficient_quota', 'insufficient_quota')),
        402,
        'upstream_quota',
        `the provider’s account behind channel main has no credit left (HTTP 429, insufficient_quota: “You exceeded your current quota, please check your plan.”); an admin adds credit there, or sets the key of another account in the settings of this gateway and restarts the gateway`,
      ],
      [
        (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Welcome</html>'),
        424,
        'upstream_bad_answer',
        `channel main answered with a web page (HTTP 200, text/html): its base URL is probably wrong (most end in /v1); ${SETTINGS}`,
      ],
      [
        (response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
        424,
        'upstream_redirected',
        `channel main sends us elsewhere (HTTP 307), which is not followed: its base URL is probably wrong; ${SETTINGS}`,
      ],
    ]
    for (const [answer, status, code, message] of cases) expect(await refusedBy(bench, answer)).toEqual({ status, code, message })
    await expectNothingBooked(bench)
  })

  test('what is about the request passes on as the provider said it', async () => {
    await using bench = await ModelBench.open({ wire })
    const cases: [number, object, Record<string, string>][] = [
      [400, says('Unsupported parameter: reasoning', 'unsupported_parameter'), {}],
      [422, { error: { message: 'odd' } }, {}],
      [429, says('Rate limit reached', 'rate_limit_exceeded', 'requests'), { 'retry-after': '7' }],
      [402, { error: { code: 402, message: 'too much is under way' } }, { 'retry-after': '3' }],
      [500, says('Sorry', null, 'server_error'), {}],
      [503, says('Overloaded', 'server_is_overloaded'), {}],
      [529, says('Overloaded', 'overloaded_error'), {}],
    ]
    for (const [status, body, headers] of cases) {
      bench.upstream.answer = providing(json(status, body, headers))
      const got = await bench.ask()
      expect([got.status, await got.json(), got.headers.get('retry-after')]).toEqual([
        status,
        body,
        headers['retry-after'] ?? null,
      ])
    }
    await expectNothingBooked(bench)
  })

  test('the key of a channel is in no answer, in whatever form the provider says it', async () => {
    await using bench = await ModelBench.open({ wire })
    const get = async (answer: UpstreamAnswer, more: object = {}): Promise<void> => {
      bench.upstream.answer = providing(answer)
      const text = await (await bench.ask(more)).text()
      // Twelve of it, wherever they are: a code of ours has the word `upstream` too.
      for (let at = 0; at + 12 <= UPSTREAM_KEY.length; at += 1)
        expect(readable(text)).not.toContain(UPSTREAM_KEY.slice(at, at + 12))
    }
    const raw =
      (status: number, type: string, text: string): UpstreamAnswer =>
      (response) =>
        response.writeHead(status, { 'content-type': type }).end(text)
    for (const form of Object.values(KEY_FORMS)) {
      const said = `no ${form(UPSTREAM_KEY)} here`
      const error = { message: said, code: said, type: said }
      const failed = wire === 'responses' ? { type: 'response.failed', response: { id: 'r', error } } : { error }
      for (const status of [400, 401, 403, 404, 422]) await get(json(status, { error }))
      await get(json(400, { detail: said }))
      await get(raw(500, 'text/html', `<p>${said}</p>`))
      await get((response) => stream(response).end(escaped(lines([failed]))))
      await get(raw(200, 'application/json', escaped(JSON.stringify({ error }))), { stream: false })
    }
    // Escaped by the body's own JSON.
    for (const status of [400, 401, 403, 404, 422])
      await get(raw(status, 'application/json', escaped(JSON.stringify(says(UPSTREAM_KEY, UPSTREAM_KEY)))))
  })

  test('a connection that is reset before the answer costs nothing and says so', async () => {
    await using bench = await ModelBench.open({ wire })
    bench.upstream.answer = (response) => response.destroy()
    const got = await bench.ask()
    const { error } = (await got.json()) as { error: { code: string; message: string } }
    expect([got.status, error.code]).toEqual([502, 'upstream_cut'])
    expect(error.message).toMatch(/^channel main broke off before it answered: the connection was (closed|reset)$/)
    await expectNothingBooked(bench)
  })

  test('a stream that fails is booked by what the provider says, and as nothing when it said nothing', async () => {
    await using bench = await ModelBench.open({ wire })
    const error = { code: 'server_error', message: 'Sorry' }
    const failed = (usage: object | null): object =>
      wire === 'responses'
        ? { type: 'response.failed', response: { id: 'r', status: 'failed', error, usage } }
        : { error, ...(usage === null ? {} : { usage }) }
    const begun = wire === 'responses' ? [{ type: 'response.created', response: { id: 'r' } }] : []
    const sent = (events: readonly object[]): UpstreamAnswer => providing((response) => stream(response).end(lines(events)))
    // Nothing was written and nothing was said about tokens.
    for (const events of [[...begun, failed(null)], [{ type: 'error', ...error, error }], begun]) {
      bench.upstream.answer = sent(events)
      await (await bench.ask()).text()
      await expectNothingBooked(bench)
    }
    // A whole body that is an error, as some answer with 200.
    bench.upstream.answer = providing(json(200, { error: { code: 502, message: 'behind us' } }))
    await (await bench.ask({ stream: false })).text()
    await expectNothingBooked(bench)
    // What the provider says counts, exactly.
    const usage = wire === 'responses' ? { input_tokens: 30, output_tokens: 2 } : { prompt_tokens: 30, completion_tokens: 2 }
    bench.upstream.answer = sent([...begun, failed(usage)])
    await (await bench.ask()).text()
    expect(await bench.booked(1)).toMatchObject([{ estimated: false, tokens: { input_tokens: 30, output_tokens: 2 } }])
    // Cut after the model had begun: an estimate, and marked as one.
    const delta =
      wire === 'responses'
        ? { type: 'response.output_text.delta', delta: 'x'.repeat(40) }
        : { choices: [{ index: 0, delta: { content: 'x'.repeat(40) } }] }
    bench.upstream.answer = sent([...begun, delta, failed(null)])
    await (await bench.ask()).text()
    const [, estimated] = await bench.booked(2)
    expect(estimated).toMatchObject({ estimated: true, tokens: { output_tokens: 10 } })
    await bench.settled()
  })
})

/** With every letter s and every hyphen escaped, which JSON allows. */
const escaped = (text: string): string =>
  text.replaceAll(/"[^"]*"/g, (string) =>
    string.replaceAll(
      /(?<!\\)(?:\\\\)*[s-]/g,
      (one) => `${one.slice(0, -1)}\\u${one.slice(-1).charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  )

const lines = (events: readonly object[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')

test('who set the channel is who can change it: an admin by a command, the settings by their names', async () => {
  await using bench = await ModelBench.open()
  bench.upstream.answer = json(401, says('no'))
  await bench.gw.admin('channel.set', { name: 'main', api_key: 'sk-another-0123456789' })
  const { error } = (await (await bench.ask()).json()) as { error: { message: string } }
  expect(error.message).toBe(
    'the provider refused the key of channel main (HTTP 401: “no”); an admin sets another with: parley channel set main --key-file FILE',
  )
  await bench.gw.admin('channel.set', { name: 'main', api_key: '' })
  const none = (await (await bench.ask()).json()) as { error: { message: string } }
  expect(none.error.message).toContain('the provider wants a key, and channel main has none (HTTP 401: “no”); an admin sets')
})
