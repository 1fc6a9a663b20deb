import type { Client } from '@parley/rpc'
import { ONE_CASE_ZIP } from '@parley/store/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browser, SOON, click, closeBrowsers, openBrowser } from './testing/browser.ts'
import { HandJudge } from './testing/hand-judge.ts'
import { type House, PASSWORD, buildPage, openHouse, signInWith, tokenOf } from './testing/house.ts'

/** The page of a job whose judge is the test itself: it decides what is written, how it is cut and when it is lost. */
beforeAll(() => buildPage())
afterAll(() => closeBrowsers())
/** A browser takes its time on a crowded machine. */
const BROWSER = { timeout: 300_000 }

const SIZE = { width: 1200, height: 900 }
const text = (selector: string): string => `(document.querySelector(${JSON.stringify(selector)})?.textContent ?? '')`
const isLive = `${text('.link')} === 'live'`

async function handIn(client: Client, title = 'A job'): Promise<string> {
  const { job_id } = await client.callTool('job.create', { title, current_code: 'int main() {}', tests_zip_b64: ONE_CASE_ZIP })
  await client.callTool('job.start', { job_id })
  return job_id
}

/** Opens an address of the page as somebody who is signed in. */
async function openAs(browser: Browser, house: House, path: string, username = 'admin', password = PASSWORD): Promise<string> {
  const token = await tokenOf(house.url, username, password)
  await browser.goto(house.url)
  await browser.evaluate(`sessionStorage.setItem('parley.token', ${JSON.stringify(token)})`)
  await browser.goto(`${house.url}${path}`)
  return token
}

test('pieces grow into one message each; what others wrote is text, whatever it looks like', BROWSER, async () => {
  await using house = await openHouse(PASSWORD)
  await using browser = await openBrowser(SIZE)
  const admin = await house.dial('admin')
  const id = await handIn(admin, '<b>bold</b>')
  const judge = await HandJudge.claim(await house.dial('judge'))
  await openAs(browser, house, `/jobs/${id}`)
  await browser.until(`${text('.badge')} !== ''`)
  await judge.status({ kind: 'agent_message_delta', delta: 'I take ', meta: { item: 'msg_1' } })
  await browser.until(`${text('.said')} === 'I take '.trim()`)
  await judge.status({ kind: 'reasoning_summary_delta', delta: '**Why**\n\nBecause', meta: { item: 'rs_1', summary_index: 0 } })
  await judge.status({
    kind: 'agent_message_delta',
    delta: '`a` and **b** <img src=x onerror=alert(1)>',
    meta: { item: 'msg_1' },
  })
  await judge.status({ kind: 'agent_message_delta', delta: '{"main": "…"}', meta: { item: 'msg_2' } })
  await judge.status({ stage: 'test', level: 'warn', summary: 'self-test failed', meta: { phase: 'self_test', ok: false } })
  await judge.status({ attempt: 2, stage: 'repair', summary: '<script>alert(2)</script>' })
  await browser.until(`document.querySelectorAll('.step').length === 2`)
  await expect
    .poll(() => browser.evaluate(`[...document.querySelector('.timeline').children].map((one) => one.innerText)`), SOON)
    .toEqual([
      'I take a and b <img src=x onerror=alert(1)>',
      'Thinks: Why',
      'Its answer, 13 characters',
      expect.stringMatching(/^Test\s+Warning: self-test failed$/),
      'Attempt 2',
      expect.stringMatching(/^Repair\s+<script>alert\(2\)<\/script>$/),
    ])
  await expect.poll(() => browser.evaluate(`document.querySelectorAll('.said code, .said strong').length`), SOON).toBe(2)
  expect(await browser.evaluate(`document.querySelectorAll('main script, main img, h2 b').length`)).toBe(0)
  await expect.poll(() => browser.evaluate(text('h2')), SOON).toBe('<b>bold</b>')
  expect(browser.complaints).toEqual([])
})

test('a lost connection is taken up where it broke: nothing twice, nothing missing, no character torn', BROWSER, async () => {
  await using house = await openHouse(PASSWORD)
  await using browser = await openBrowser(SIZE)
  const id = await handIn(await house.dial('admin'))
  const judge = await HandJudge.claim(await house.dial('judge'))
  await openAs(browser, house, `/jobs/${id}`)
  const bytes = Buffer.from('grün \u001B[31mrot\u001B[0m 🌍\n')
  await judge.terminal(bytes.subarray(0, 3))
  await judge.status({ summary: 'first' })
  await browser.until(`${text('.terminal')} === 'gr'`)
  await judge.terminal(bytes.subarray(3, bytes.indexOf('31m')))
  await browser.until(`${text('.terminal')} === 'grün '`)
  await house.stop()
  await browser.until(`document.querySelector('.link').dataset.state === 'lost'`)
  await house.start()
  judge.reconnected(await house.dial('judge'))
  await judge.status({ summary: 'second' })
  await judge.terminal(bytes.subarray(bytes.indexOf('31m'), -3))
  await judge.terminal(bytes.subarray(-3))
  await browser.until(isLive)
  await browser.until(`${text('.terminal')} === 'grün rot 🌍\\n'`)
  await browser.until(`document.querySelectorAll('.step').length === 2`)
  await expect
    .poll(() => browser.evaluate(`[...document.querySelectorAll('.step span:last-child')].map((one) => one.textContent)`), SOON)
    .toEqual(['first', 'second'])
})

test('a long terminal is kept to its end', BROWSER, async () => {
  await using house = await openHouse(PASSWORD)
  await using browser = await openBrowser(SIZE)
  const id = await handIn(await house.dial('admin'))
  const judge = await HandJudge.claim(await house.dial('judge'))
  const line = `${'é'.repeat(511)}\n`
  for (let sent = 0; sent < 3; sent += 1) await judge.terminal(Buffer.from(line.repeat(512)))
  await openAs(browser, house, `/jobs/${id}`)
  await browser.until(`${text('.terminal')}.endsWith('é\\n')`)
  for (let sent = 0; sent < 3; sent += 1) await judge.terminal(Buffer.from(`${'x'.repeat(1023)}\n`.repeat(512)))
  await judge.terminal(Buffer.from('the end\n'))
  await browser.until(`${text('.terminal')}.endsWith('the end\\n')`)
  await expect.poll(() => browser.evaluate(`${text('.terminal')}.length`), SOON).toBe(1024 * 1024)
  expect(await browser.evaluate(`${text('.terminal')}.includes('\\uFFFD')`)).toBe(false)
  await expect
    .poll(() => browser.evaluate(text('[aria-label=Terminal] .quiet')), SOON)
    .toMatch(/characters before these are left out/)
})

test('at the end: explanation, code with its changes, and a cost that nobody knows', BROWSER, async () => {
  await using house = await openHouse(PASSWORD)
  await using browser = await openBrowser(SIZE)
  const id = await handIn(await house.dial('admin'))
  const judge = await HandJudge.claim(await house.dial('judge'))
  await openAs(browser, house, `/jobs/${id}`)
  await judge.status({ summary: 'is a script', meta: { phase: 'prepared', script: true } })
  await browser.until(`document.querySelector('.banner')?.checkVisibility()`)
  await expect.poll(() => browser.evaluate(text('.banner')), SOON).toBe('This was played from a script; no model was asked.')
  await judge.patch({ status: 'running_test' })
  const solution_json = {
    schema_version: 'solution.v1',
    job_id: id,
    solution_idea: 'An `idea`',
    seed_code_idea: '',
    seed_code_bug_reason: '',
    user_feedback_md: '# Title\n\n- one\n- **two**\n\n```cpp\nint a;\n```\n[a link](javascript:alert(1))',
    seed_code_issue_type: 'minor_bug',
    seed_code_wrong_lines: [],
    seed_code_fix_diff: '',
    seed_code_full_diff: '--- a/main.cpp\n+++ b/main.cpp\n@@ -1,1 +1,1 @@\n-int main() {}\n+int main() { return 0; }\n',
    assumptions: [],
    complexity: '',
  }
  const usage = { input_tokens: 1200, cached_input_tokens: 0, output_tokens: 3, cached_output_tokens: 0 }
  await judge.use(usage)
  await judge.end(
    { status: 'failed', error: { code: 'tests_failed', message: '1 of 1 failed' } },
    { main_cpp: 'int main() { return 0; }\n', solution_json },
  )
  await browser.until(`document.querySelector('[aria-label=Code]')`)
  await expect.poll(() => browser.evaluate(text('.problem')), SOON).toBe('1 of 1 failed')
  await expect
    .poll(() => browser.evaluate(`[...document.querySelectorAll('.words > *')].map((one) => one.tagName)`), SOON)
    .toEqual(['P', 'UL', 'PRE', 'P'])
  expect(await browser.evaluate(`document.querySelectorAll('.words a').length`)).toBe(0)
  await expect.poll(() => browser.evaluate(text('.usage')), SOON).toBe('CostunpricedCalls1Tokens in1\u202F200Tokens out3')
  await expect.poll(() => browser.evaluate(text('pre.code')), SOON).toBe('int main() { return 0; }\n')
  await click(browser, '[aria-pressed]')
  await expect
    .poll(() => browser.evaluate(`[...document.querySelectorAll('.diff span')].map((one) => one.className)`), SOON)
    .toEqual(['place', 'removed', 'added'])
})

test('a job that is not there and one of somebody else are the same to whoever asks', BROWSER, async () => {
  await using house = await openHouse(PASSWORD)
  await using browser = await openBrowser({ width: 320, height: 700 })
  const admin = await house.dial('admin')
  const foreign = await handIn(admin)
  await admin.callTool('user.add', { username: 'ada', password: 'password-123' })
  await openAs(browser, house, `/jobs/${foreign}`, 'ada', 'password-123')
  await browser.until(`${text('h2')} === 'No such job'`)
  for (const id of ['nonsense', `job_${'0'.repeat(26)}`, '%3Cimg%20src=x%3E']) {
    await browser.goto(`${house.url}/jobs/${id}`)
    await browser.until(`${text('h2')} === 'No such job'`)
  }
  expect(await browser.evaluate(`document.documentElement.scrollWidth`)).toBe(320)
  await click(browser, 'main a')
  await browser.until(`location.pathname === '/' && /^No jobs yet/.test(${text('main p')})`)
})

test('whoever is signed out while looking signs in and looks at the same job again', BROWSER, async () => {
  await using house = await openHouse(PASSWORD)
  await using browser = await openBrowser(SIZE)
  const id = await handIn(await house.dial('admin'), 'Still here')
  const token = await openAs(browser, house, `/jobs/${id}`)
  await browser.until(`${text('h2')} === 'Still here'`)
  await fetch(`${house.url}/api/auth/logout`, { method: 'POST', headers: { authorization: `Bearer ${token}` } })
  await browser.until(`${text('h2')} === 'Sign in'`)
  expect(await browser.evaluate(`location.pathname`)).toBe(`/jobs/${id}`)
  await browser.evaluate(signInWith(PASSWORD))
  await browser.until(`${text('h2')} === 'Still here' && ${isLive}`)
})

test('the list goes on by pages, follows what happens, and leaves the focus where it is', BROWSER, async () => {
  await using house = await openHouse(PASSWORD)
  await using browser = await openBrowser(SIZE)
  const admin = await house.dial('admin')
  for (let made = 0; made < 51; made += 1)
    await admin.callTool('job.create', { title: `job ${made}`, current_code: 'x', tests_zip_b64: ONE_CASE_ZIP })
  await openAs(browser, house, '/')
  await browser.until(`document.querySelectorAll('.jobs tbody tr').length === 50`)
  await expect.poll(() => browser.evaluate(text('.jobs tbody a')), SOON).toBe('job 50')
  await browser.evaluate(`document.querySelector('.jobs tbody a').focus()`)
  const { job_id } = await admin.callTool('job.create', { title: 'the newest', current_code: 'x', tests_zip_b64: ONE_CASE_ZIP })
  await browser.until(`${text('.jobs tbody a')} === 'the newest'`)
  expect(await browser.evaluate(`document.activeElement.textContent`)).toBe('job 50')
  await admin.callTool('job.start', { job_id })
  await browser.until(`${text('.jobs tbody .badge')} === 'queued'`)
  await click(browser, 'button', 'Show more')
  await browser.until(`document.querySelectorAll('.jobs tbody tr').length === 52`)
  await admin.callTool('job.cancel', { job_id })
  await admin.callTool('job.delete', { job_id })
  await browser.until(`document.querySelectorAll('.jobs tbody tr').length === 51`)
})
