import type { Client } from '@parley/rpc'
import { ONE_CASE_ZIP } from '@parley/store/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browser, SOON, click, closeBrowsers, openBrowser } from './testing/browser.ts'
import { type House, PASSWORD, buildPage, openHouse, tokenOf } from './testing/house.ts'

/** What the page says of a job that waits, whose jobs are whose, and of a connection that is lost. */
beforeAll(() => buildPage())
afterAll(() => closeBrowsers())
/** A browser takes its time on a crowded machine. */
const BROWSER = { timeout: 120_000 }

const SIZE = { width: 1200, height: 900 }
const ADA = 'password-of-ada'
const text = (selector: string): string => `(document.querySelector(${JSON.stringify(selector)})?.textContent ?? '')`
const shows = (selector: string): string => `document.querySelector(${JSON.stringify(selector)})?.checkVisibility() === true`

async function openAs(browser: Browser, house: House, path: string, username = 'admin', password = PASSWORD): Promise<void> {
  const token = await tokenOf(house.url, username, password)
  await browser.goto(house.url)
  await browser.evaluate(`sessionStorage.setItem('parley.token', ${JSON.stringify(token)})`)
  await browser.goto(`${house.url}${path}`)
}

async function handIn(client: Client, title: string): Promise<string> {
  const { job_id } = await client.callTool('job.create', {
    title,
    current_code: 'package main',
    language: 'go',
    tests_zip_b64: ONE_CASE_ZIP,
  })
  await client.callTool('job.start', { job_id })
  return job_id
}

function ask(client: Client, languages: readonly ('cpp' | 'go')[]) {
  const sandbox = { driver: 'none', tier: 'none', enforced: {}, missing: [] }
  const facts = {
    version: '1',
    languages: languages.map((language) => ({ language, version: '1' })),
    sandbox,
    slots: 1,
    running: 0,
  }
  return client.callTool('judge.claim_next', { machine_id: 'host-1', name: 'tower', facts })
}

test('the header of a job says why it waits for as long as it does, and who cancelled it', BROWSER, async () => {
  await using house = await openHouse(PASSWORD)
  await using browser = await openBrowser(SIZE)
  const id = await handIn(await house.dial('admin'), 'In Go')
  await openAs(browser, house, `/jobs/${id}`)
  await browser.until(`${text('.waits')} === 'It waits: no judge is connected.' && ${shows('.waits')}`)
  const judge = await house.dial('judge')
  await ask(judge, ['cpp'])
  await browser.until(`${text('.waits')} === 'It waits: no judge that is here has Go (tower: cpp).'`)
  expect(await ask(judge, ['go'])).toMatchObject({ claimed: true, job_id: id })
  await browser.until(`!${shows('.waits')}`)
  await browser.until(`[...document.querySelectorAll('.facts dd')].some((one) => one.textContent === 'tower')`)
  await click(browser, 'button', 'Cancel')
  await browser.until(`${text('.problem')} === 'You cancelled it.'`)
  expect(browser.complaints).toEqual([])
})

test(
  'of a job that was cancelled before any judge took it nothing is announced, and why it had waited is said',
  BROWSER,
  async () => {
    await using house = await openHouse(PASSWORD)
    await using browser = await openBrowser(SIZE)
    const id = await handIn(await house.dial('admin'), 'In Go')
    await ask(await house.dial('judge'), ['cpp'])
    await openAs(browser, house, `/jobs/${id}`)
    const timeline = text('[aria-label=Timeline] .quiet')
    const terminal = text('[aria-label=Terminal] .quiet')
    await browser.until(`${timeline} === 'Nothing has happened yet.' && ${terminal} === 'Nothing was printed yet.'`)
    await browser.until(shows('.waits'))
    await click(browser, 'button', 'Cancel')
    const nothing = 'Nothing happened: no judge had taken it.'
    const waited = `${nothing} It had waited: no judge that is here has Go (tower: cpp).`
    await browser.until(`${timeline} === ${JSON.stringify(waited)} && ${terminal} === 'Nothing was printed.'`)
    // The gateway does not keep why it waited; that nobody took it stays known.
    await browser.evaluate(`window.isOfBefore = true; location.reload()`)
    await browser.until(`window.isOfBefore === undefined && ${timeline} === ${JSON.stringify(nothing)}`)
    await browser.until(`${terminal} === 'Nothing was printed.' && ${text('[aria-label=Cases] .quiet')} === 'No case was run.'`)
    expect(browser.complaints).toEqual([])
  },
)

test('an admin sees whose jobs they are and can look at their own; everybody else has their own alone', BROWSER, async () => {
  await using house = await openHouse(PASSWORD)
  await using browser = await openBrowser(SIZE)
  const admin = await house.dial('admin')
  await admin.callTool('user.add', { username: 'ada', password: ADA })
  await using ada = await openBrowser(SIZE)
  await openAs(ada, house, '/', 'ada', ADA)
  await ada.until(`${text('h2')} === 'Your jobs'`)
  const page = await tokenOf(house.url, 'ada', ADA)
  const of = await house.dialAs(page)
  const id = await handIn(of, 'of ada')
  await handIn(admin, 'of admin')
  await openAs(browser, house, '/')
  await browser.until(`${text('h2')} === 'All jobs' && document.querySelectorAll('.jobs tbody tr').length === 2`)
  const owners = `[...document.querySelectorAll('[data-label=Owner]')].map((one) => one.textContent)`
  await expect.poll(() => browser.evaluate(owners), SOON).toEqual(['admin', 'ada'])
  await click(browser, '.heading input')
  await browser.until(`${text('h2')} === 'Your jobs' && document.querySelectorAll('.jobs tbody tr').length === 1`)
  await expect.poll(() => browser.evaluate(owners), SOON).toEqual(['admin'])
  await admin.callTool('job.cancel', { job_id: id })
  await ada.until(`document.querySelectorAll('.jobs tbody tr').length === 1`)
  expect(await ada.evaluate(`document.querySelectorAll('[data-label=Owner], .heading input').length`)).toBe(0)
  await ada.goto(`${house.url}/jobs/${id}`)
  await ada.until(`${text('.problem')} === 'Cancelled by admin.'`)
})

test('a lost connection is one truth: what is wrong, and what happens next', BROWSER, async () => {
  await using house = await openHouse(PASSWORD)
  await using browser = await openBrowser(SIZE)
  await openAs(browser, house, '/')
  await browser.until(`${text('.link')} === 'live'`)
  expect(await browser.evaluate(shows('#health'))).toBe(false)
  await house.stop()
  await browser.until(`/^the gateway does not answer; trying again (now|in \\d+ s)$/.test(${text('.link')})`)
  expect(await browser.evaluate(`document.body.innerText.includes('healthy')`)).toBe(false)
  await house.start()
  await browser.until(`${text('.link')} === 'live'`)
})

test(
  'whoever goes on while the connection is lost is told so, keeps the list that was there, and gets the rest later',
  BROWSER,
  async () => {
    await using house = await openHouse(PASSWORD)
    await using browser = await openBrowser(SIZE)
    const admin = await house.dial('admin')
    const id = await handIn(admin, 'In Go')
    const other = await handIn(admin, 'Another')
    const lost = `${text('.link')}.startsWith('the gateway does not answer')`
    const note = text('section.card > .quiet')
    // A list that was never read.
    await openAs(browser, house, `/jobs/${id}`)
    await browser.until(`${text('h2')} === 'In Go'`)
    await house.stop()
    await browser.until(lost)
    await click(browser, '.back a')
    await browser.until(`${note} === 'The connection is lost. The jobs are shown as soon as it is back.'`)
    await house.start()
    await browser.until(`document.querySelectorAll('.jobs tbody tr').length === 2 && !${shows('section.card > .quiet')}`)
    // A list that was, and a job that was not.
    await house.stop()
    await browser.until(`${note}.startsWith('The connection is lost. This is how the jobs were')`)
    await click(browser, '.jobs a', 'Another')
    await browser.until(`${text('.problem')} === 'The connection is lost. The job is shown as soon as it is back.'`)
    await click(browser, '.back a')
    await browser.until(`document.querySelectorAll('.jobs tbody tr').length === 2 && ${shows('section.card > .quiet')}`)
    await click(browser, '.jobs a', 'Another')
    await house.start()
    await browser.until(`${text('h2')} === 'Another' && location.pathname === '/jobs/${other}' && !${shows('.problem')}`)
  },
)
