import { afterAll, beforeAll, expect, test } from 'vitest'
import { SOON, click, closeBrowsers, openBrowser } from './testing/browser.ts'
import { PASSWORD, buildPage, openHouse, signInWith, tokenOf } from './testing/house.ts'

beforeAll(() => buildPage())
afterAll(() => closeBrowsers())

/** A browser takes its time on a crowded machine. */
const BROWSER = { timeout: 300_000 }

const JOBS = `document.querySelector('h2')?.textContent === 'All jobs'`

test('a one-time link signs in on a click, once, and leaves no trace in the address', BROWSER, async () => {
  await using house = await openHouse()
  await using browser = await openBrowser({ width: 900, height: 640 })
  await browser.goto(house.link)
  await browser.until(`document.querySelector('button[type=submit]')?.textContent === 'Sign in as admin'`)
  await browser.until(`document.getElementById('health').textContent === 'The gateway is healthy'`)
  await click(browser, 'button[type=submit]')
  await browser.until(`document.querySelector('.account')`)
  await expect
    .poll(() => browser.evaluate(`location.hash + ' ' + document.querySelector('.account dl').textContent`), SOON)
    .toMatch(/^ NameadminRoleuser with admin rightsSigned in/)
  // From here on the connection itself says how it is.
  await browser.until(`document.querySelector('.link')?.textContent === 'live' && document.getElementById('health').hidden`)
  await browser.until(`/No jobs yet/.test(document.querySelector('main').textContent)`)
  expect(browser.complaints).toEqual([])

  await using second = await openBrowser({ width: 400, height: 700 })
  await second.goto(house.link)
  await second.until(`document.querySelector('h2')?.textContent === 'This link was used already'`)
  expect(await second.evaluate(`document.querySelector('main').innerText`)).toContain('parley user link NAME')
  expect(await second.evaluate(`document.querySelector('button[type=submit]')`)).toBe(null)
  await second.goto(`${house.url}/#link=lnk_cut-off`)
  await second.until(`document.querySelector('h2')?.textContent === 'This link is not known here'`)
  await click(second, 'button.plain')
  await second.until(`document.querySelector('h2')?.textContent === 'Sign in' && location.hash === ''`)
  expect(await second.evaluate(`document.querySelector('main').innerText`)).toMatch(/parley user link NAME.*for this tab alone/s)
})

test('whoever signed in without a password is told so, sets one, and stays signed in', BROWSER, async () => {
  await using house = await openHouse()
  await using browser = await openBrowser({ width: 900, height: 900 })
  await browser.goto(house.link)
  await browser.until(`document.querySelector('button[type=submit]')`)
  await click(browser, 'button[type=submit]')
  await browser.until(`document.querySelector('.password summary')?.textContent === 'Your account has no password: set one'`)
  await browser.until(`document.querySelector('.link')?.textContent === 'live'`)
  const words = String(await browser.evaluate(`document.querySelector('.password form').textContent`))
  expect(words).toMatch(/signs you out everywhere else and ends your tokens.*Keep my tokens/)
  const before = await browser.evaluate(`sessionStorage.getItem('parley.token')`)
  const set = (password: string, again: string) =>
    browser.evaluate(`document.getElementById('new-password').value = ${JSON.stringify(password)}
      document.getElementById('new-password-again').value = ${JSON.stringify(again)}
      document.querySelector('.password form').requestSubmit()`)
  await set(PASSWORD, `${PASSWORD}!`)
  await browser.until(`/not the same/.test(document.querySelector('.password .problem')?.textContent)`)
  // Everything that the page says from here on, however short.
  await browser.evaluate(`window.said = []
    const look = () => {
      const words = [...document.querySelectorAll('.link, .problem, .done, .quiet')].filter((one) => one.checkVisibility())
      said.push(...words.map((one) => one.textContent))
    }
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true })`)
  await set(PASSWORD, PASSWORD)
  expect(await browser.evaluate(`document.querySelector('.password .problem')?.checkVisibility() ?? false`)).toBe(false)
  await browser.until(`document.querySelector('.card.password') === null && ${JOBS}`)
  await browser.until(`/^Your password is set\\./.test(document.querySelector('.done')?.textContent)`)
  await browser.until(`document.querySelector('.link')?.textContent === 'live'`)
  expect(await browser.evaluate(`said.includes('connecting…')`)).toBe(true)
  expect(await browser.evaluate(`said.filter((text) => /lost|could not|not the same/.test(text))`)).toEqual([])
  const after = String(await browser.evaluate(`sessionStorage.getItem('parley.token')`))
  expect([await me(house.url, String(before)), await me(house.url, after)]).toEqual([401, 200])
  expect(browser.complaints).toEqual([])
})

test('a name and a password sign in; signing out ends the sign-in at the gateway too', BROWSER, async () => {
  await using house = await openHouse(PASSWORD)
  await using browser = await openBrowser({ width: 900, height: 640 })
  await browser.goto(house.url)
  await browser.until(`document.activeElement?.id === 'username'`)
  await browser.evaluate(signInWith('not the password'))
  await browser.until(`document.querySelector('.problem')?.textContent === 'The user name or the password is wrong.'`)
  await browser.evaluate(signInWith(PASSWORD))
  await browser.until(JOBS)
  const token = String(await browser.evaluate(`sessionStorage.getItem('parley.token')`))
  expect(await me(house.url, token)).toBe(200)
  await click(browser, 'button', 'Sign out')
  await browser.until(`document.querySelector('h2')?.textContent === 'Sign in'`)
  expect(await me(house.url, token)).toBe(401)
  expect(await browser.evaluate(`sessionStorage.length`)).toBe(0)
})

test('whoever is signed out from elsewhere is told why, and signs in again', BROWSER, async () => {
  await using house = await openHouse(PASSWORD)
  await using browser = await openBrowser({ width: 900, height: 640 })
  const admin = await house.dial('admin')
  await admin.callTool('user.add', { username: 'ada', password: PASSWORD })
  await browser.goto(house.url)
  await browser.until(`document.activeElement?.id === 'username'`)
  await browser.evaluate(signInWith(PASSWORD, 'ada'))
  await browser.until(`document.querySelector('.link')?.textContent === 'live'`)
  await admin.callTool('user.passwd', { username: 'ada', password: `${PASSWORD}!` })
  await browser.until(`document.querySelector('h2')?.textContent === 'Sign in'`)
  expect(await browser.evaluate(`document.querySelector('.problem').textContent`)).toBe(
    'You were signed out (your password was changed, or an admin ended your sign-in). Sign in again.',
  )
  await browser.evaluate(signInWith(`${PASSWORD}!`, 'ada'))
  await browser.until(`document.querySelector('h2')?.textContent === 'Your jobs'`)
})

test('whoever has a password changes it below their account, with the one that they have', BROWSER, async () => {
  await using house = await openHouse(PASSWORD)
  await using browser = await openBrowser({ width: 900, height: 1100 })
  await browser.goto(house.url)
  await browser.until(`document.activeElement?.id === 'username'`)
  await browser.evaluate(signInWith(PASSWORD))
  await browser.until(`document.querySelector('.link')?.textContent === 'live'`)
  await click(browser, '.account > summary')
  await click(browser, '.account .password summary', 'Change your password')
  const change = (current: string, next: string) =>
    browser.evaluate(`document.getElementById('current-password').value = ${JSON.stringify(current)}
      for (const id of ['new-password', 'new-password-again']) document.getElementById(id).value = ${JSON.stringify(next)}
      document.querySelector('.password form').requestSubmit()`)
  await change('not the password', `${PASSWORD}!`)
  await browser.until(`document.querySelector('.password .problem').textContent === 'The current password is wrong.'`)
  await change(PASSWORD, `${PASSWORD}!`)
  await browser.until(`/^Your password is set\\./.test(document.querySelector('.done')?.textContent)`)
  await browser.until(`document.querySelector('.link')?.textContent === 'live'`)
  expect(await me(house.url, await tokenOf(house.url, 'admin', `${PASSWORD}!`))).toBe(200)
  expect(await me(house.url, await tokenOf(house.url, 'admin', PASSWORD))).toBe(401)
  expect(browser.complaints).toEqual([])
})

test.each([
  ['end', 'unchecked', 'Your tokens have ended: programs that act for you need new ones.', 401],
  ['stay', 'checked', 'Your tokens were kept.', 200],
])('the tokens of whoever sets a password %s with the box %s, and the page says so', BROWSER, async (_, box, words, status) => {
  await using house = await openHouse()
  await using browser = await openBrowser({ width: 900, height: 900 })
  await browser.goto(house.link)
  await click(browser, 'button[type=submit]')
  await browser.until(`document.querySelector('.link')?.textContent === 'live'`)
  const signIn = String(await browser.evaluate(`sessionStorage.getItem('parley.token')`))
  const { token } = await (await house.dialAs(signIn)).callTool('token.create', { username: 'admin', role: 'user' })
  if (box === 'checked') await click(browser, '#keep-tokens')
  await browser.evaluate(`for (const id of ['new-password', 'new-password-again'])
      document.getElementById(id).value = ${JSON.stringify(PASSWORD)}
    document.querySelector('.password form').requestSubmit()`)
  await browser.until(`document.querySelector('.done')?.textContent.endsWith(${JSON.stringify(` ${words}`)})`)
  expect(await me(house.url, token)).toBe(status)
})

async function me(url: string, token: string): Promise<number> {
  return (await fetch(`${url}/api/auth/me`, { headers: { authorization: `Bearer ${token}` } })).status
}
