import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browser, SOON, click, closeBrowsers, openBrowser } from './testing/browser.ts'
import { PASSWORD, buildPage, signInWith } from './testing/house.ts'
import { openScratch } from './testing/scratch.ts'

/** The page beside a real gateway and a real judge, as `parley up` starts them, with jobs as `parley job submit` hands them in. */
const root = dirname(import.meta.dirname)
const LAUNCHER = join(root, 'bin/parley.js')
const scratch = openScratch({
  '.config/parley/parley.toml': '[[channels]]\nname = "play"\nscript = "stairs"\n',
  'tests/1.in': '1 2\n',
  'tests/1.out': '3\n',
  'tests/2.in': '2 2\n',
  'tests/2.out': '4\n',
  'guesses.py': 'print(3)\n',
  'forever.py': 'while True: pass\n',
  'halfway.py': 'a, b = map(int, input().split())\nwhile a > 1: pass\nprint(a + b)\n',
  'broken.py': 'def (\n',
  'open/1.in': '1 2\n',
  'open/2.in': '2 2\n',
})
const { PATH = '', NODE_COMPILE_CACHE = join(scratch.root, 'compiled') } = process.env
const env = { PATH, NODE_COMPILE_CACHE, HOME: scratch.root, TMPDIR: scratch.root, PARLEY_ADMIN_PASSWORD: PASSWORD }
const REAL = { timeout: 300_000 }
let url = ''
let stop: () => Promise<void>

beforeAll(async () => {
  buildPage()
  const up = spawn(process.execPath, [LAUNCHER, 'up', '--port', '0', '--data', 'data', '--json'], {
    cwd: scratch.root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  stop = async () => {
    up.kill('SIGTERM')
    await once(up, 'exit')
  }
  const [line] = await once(createInterface({ input: up.stdout }), 'line')
  url = String(Reflect.get(Object(JSON.parse(String(line))), 'url'))
}, 180_000)
afterAll(async () => {
  await closeBrowsers()
  await stop()
  scratch[Symbol.dispose]()
}, 60_000)

function parley(...args: readonly string[]): Promise<string> {
  const command = [LAUNCHER, ...args, '--data', 'data']
  const child = spawn(process.execPath, command, { cwd: scratch.root, env, stdio: ['ignore', 'pipe', 'inherit'] })
  return text(child.stdout)
}

/** Hands a job in from the shell and answers its id. */
async function submit(...args: readonly string[]): Promise<string> {
  const out = await parley('job', 'submit', ...args, '--json', '--detach')
  return String(Reflect.get(Object(JSON.parse(out.trim().split('\n').at(-1) ?? '')), 'job_id'))
}

async function signInAt(browser: Browser, path: string): Promise<void> {
  await browser.goto(`${url}${path}`)
  await browser.until(`document.getElementById('username')`)
  await browser.evaluate(signInWith(PASSWORD))
  await browser.until(`document.querySelector('.link')?.textContent === 'live'`)
}

const textOf = (selector: string): string => `(document.querySelector(${JSON.stringify(selector)})?.textContent ?? '')`
const press = (browser: Browser, name: string): Promise<void> => click(browser, 'button, a', name)
const VERDICTS = `[...document.querySelectorAll('.cases tbody tr')].map((row) => row.children[0].textContent + ' ' + row.querySelector('.verdict').textContent).join()`

test('a job appears in the list, its verdicts on its page, and all of it again after a reload', REAL, async () => {
  await using browser = await openBrowser({ width: 1100, height: 900 })
  await signInAt(browser, '/')
  await submit('--judge-only', '--code', 'guesses.py', '--tests', 'tests', '--title', 'Guesses')
  await browser.until(`${textOf('.jobs a')} === 'Guesses'`)
  await press(browser, 'Guesses')
  await browser.until(`${VERDICTS} === '1 AC,2 WA' && ${textOf('.badge')} === 'failed'`)
  const shown = `document.querySelector('.cases').textContent + document.querySelector('.timeline').textContent`
  await browser.until(`document.querySelector('[aria-label=Code]')`)
  await expect.poll(() => browser.evaluate(shown), SOON).toMatch(/wrong answer.*expected 4, got 3.*claimed by.*1 of 2 passed/s)
  const before = await browser.evaluate(shown)
  await browser.until(`/2 {2}2 +WA/.test(${textOf('.terminal')})`)
  await expect
    .poll(() => browser.evaluate(`document.activeElement.id + ' ' + document.title`), SOON)
    .toBe('content Guesses · Parley')
  await expect.poll(() => browser.evaluate(`location.pathname`), SOON).toMatch(/^\/jobs\/job_\w{26}$/)
  await browser.evaluate(`window.isOfBefore = true; location.reload()`)
  await browser.until(
    `window.isOfBefore === undefined && ${VERDICTS} === '1 AC,2 WA' && document.querySelector('[aria-label=Code]')`,
  )
  await browser.until(`${shown} === ${JSON.stringify(before)}`)
  expect(await browser.evaluate(`document.querySelector('.banner').checkVisibility()`)).toBe(false)
  await browser.evaluate(`history.back()`)
  await browser.until(`/failed.*Guesses.*judged as it is.*python.*1\\/2/.test(${textOf('.jobs tbody tr')})`)
  expect(browser.complaints).toEqual([])
})

test('a job is cancelled and tried again with a click', REAL, async () => {
  await using browser = await openBrowser({ width: 1100, height: 900 })
  const id = await submit('--judge-only', '--code', 'forever.py', '--tests', 'tests', '--time-ms', '60000')
  await signInAt(browser, `/jobs/${id}`)
  await browser.until(`${textOf('.badge')} === 'testing'`)
  await press(browser, 'Cancel')
  await browser.until(`${textOf('.badge')} === 'cancelled'`)
  const said = `[...document.querySelectorAll('.step')].map((step) => step.textContent).filter((words) => /cancel|2 of 2/i.test(words)).join()`
  await browser.until(`${said} === 'Testcancelled after 0 of 2 cases'`)
  const colour = (selector: string): string => `getComputedStyle([...document.querySelectorAll('${selector}')].at(-1)).color`
  await browser.until(`${colour('.step')} === ${colour('p.quiet')}`)
  const rows = `[...document.querySelectorAll('.cases tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent).join(' ')).join()`
  await browser.until(`${rows} === '1 CANCELLED not run – –,2 CANCELLED not run – –'`)
  await press(browser, 'Retry')
  await browser.until(`location.pathname !== '/jobs/${id}' && /^(queued|testing)$/.test(${textOf('.badge')})`)
  await expect.poll(() => browser.evaluate(`document.querySelector('a[href="/jobs/${id}"]')?.textContent`), SOON).toBe(id)
  await press(browser, 'Cancel')
  await browser.until(`${textOf('.badge')} === 'cancelled'`)
})

test('a job that is cancelled in the middle says what was judged of it: live, opened afresh and in the shell', REAL, async () => {
  await using browser = await openBrowser({ width: 1100, height: 900 })
  const id = await submit('--judge-only', '--code', 'halfway.py', '--tests', 'tests', '--time-ms', '60000')
  await signInAt(browser, `/jobs/${id}`)
  await browser.until(`${VERDICTS} === '1 AC'`)
  await press(browser, 'Cancel')
  const result = '1 of 1 judged case passed, 1 not run'
  const said = `${textOf('.facts')}.includes('Result${result}') && /cancelled after 1 of 2 cases/.test(${textOf('.timeline')})`
  await browser.until(said)
  await browser.evaluate(`window.isOfBefore = true; location.reload()`)
  await browser.until(`window.isOfBefore === undefined && ${said}`)
  expect(await parley('job', 'show', id)).toContain(`you cancelled it, ${result}`)
})

test('a script is called one wherever it is shown', REAL, async () => {
  await using browser = await openBrowser({ width: 1100, height: 900 })
  const example = join(root, 'examples/stairs')
  const files = [
    '--statement',
    join(example, 'problem.md'),
    '--code',
    join(example, 'code.py'),
    '--tests',
    join(example, 'tests'),
  ]
  const id = await submit(...files, '--model', 'script-stairs')
  await signInAt(browser, `/jobs/${id}`)
  await browser.until(`document.querySelector('.banner')?.checkVisibility()`)
  await browser.until(`${textOf('.badge')} === 'succeeded' && document.querySelector('[aria-label=Usage]')`)
  await expect.poll(() => browser.evaluate(textOf('.banner')), SOON).toBe('This was played from a script; no model was asked.')
  await expect.poll(() => browser.evaluate(textOf('.facts')), SOON).toMatch(/^Modelscript script-stairs/)
  await expect
    .poll(() => browser.evaluate(textOf('.timeline')), SOON)
    .toMatch(/Warning: self-test failed: 4 of 5.*self-test passed: 5 of 5/s)
  await expect.poll(() => browser.evaluate(`document.querySelectorAll('.said').length`), SOON).toBeGreaterThan(0)
  expect(await browser.evaluate(`document.querySelectorAll('details[open]').length`)).toBe(0)
  await expect.poll(() => browser.evaluate(textOf('.usage')), SOON).toMatch(/^Costnothing: a script was played/)
  await press(browser, 'Show changes')
  await expect.poll(() => browser.evaluate(`document.querySelectorAll('.diff .added').length`), SOON).toBeGreaterThan(0)
  await click(browser, 'a', '← All jobs')
  await browser.until(`/script script-stairs/.test(${textOf('.jobs tbody tr')})`)
  expect(browser.complaints).toEqual([])
})

test('a job that nobody judged is neither green nor a success; a limit is passed, not measured', REAL, async () => {
  await using browser = await openBrowser({ width: 1100, height: 900 })
  const id = await submit('--judge-only', '--code', 'guesses.py', '--tests', 'open', '--title', 'Unproved')
  await signInAt(browser, `/jobs/${id}`)
  await browser.until(`${textOf('.badge')} === 'ran, not judged' && ${VERDICTS} === '1 RUN,2 RUN'`)
  await browser.until(`/not judged/.test(${textOf('.timeline')}) && /not judged/.test(${textOf('.terminal')})`)
  await expect
    .poll(() => browser.evaluate(textOf('[aria-label=Cases] [role=status]')), SOON)
    .toBe('Ran, not judged: the tests have no answers.')
  await expect.poll(() => browser.evaluate(textOf('.facts')), SOON).toContain('Resultran, not judged: the tests have no answers')
  expect(await browser.evaluate(`document.querySelector('main').innerText`)).not.toMatch(/succeeded|passed/i)
  const colours = `[...new Set(['.badge', '.verdict', '.step[data-phase=end]'].map((one) => getComputedStyle(document.querySelector(one)).color))]`
  const shown = await browser.evaluate(colours)
  expect(shown).toHaveLength(1)
  for (const taken of ['--good', '--bad', '--quiet', '--ink'])
    expect(
      await browser.evaluate(`(() => {
        const probe = document.body.appendChild(document.createElement('i'))
        probe.style.setProperty('color', 'var(${taken})')
        const { color } = getComputedStyle(probe)
        probe.remove()
        return ${JSON.stringify(shown)}.includes(color)
      })()`),
    ).toBe(false)
  await click(browser, 'a', '← All jobs')
  await browser.until(`/ran, not judged.*Unproved.*python.*the tests have no answers/.test(${textOf('.jobs tbody tr')})`)

  const spins = await submit('--judge-only', '--code', 'forever.py', '--tests', 'open', '--time-ms', '100')
  await browser.goto(`${url}/jobs/${spins}`)
  await browser.until(`${VERDICTS} === '1 TLE,2 TLE'`)
  await expect.poll(() => browser.evaluate(textOf('.cases td[data-label=Time]')), SOON).toBe('>100 ms')

  const broken = await submit('--judge-only', '--code', 'broken.py', '--tests', 'open')
  await browser.goto(`${url}/jobs/${broken}`)
  await browser.until(`${textOf('.badge')} === 'failed'`)
  await expect
    .poll(() => browser.evaluate(textOf('[aria-label=Cases] [role=status]')), SOON)
    .toBe('Not compiled: no case was run.')
  expect(browser.complaints).toEqual([])
})
