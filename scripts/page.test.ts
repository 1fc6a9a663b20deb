import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { type Gateway, type PageFile, createLogger, openGateway } from '@parley/gateway'
import { openStore } from '@parley/store'
import { beforeAll, expect, test } from 'vitest'
import { openBrowser } from './testing/browser.ts'

const root = dirname(import.meta.dirname)
const dist = join(root, 'packages/web/dist')
const PASSWORD = 'correct horse battery'
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

beforeAll(() => {
  const { status } = spawnSync(process.execPath, ['scripts/setup.js', '--for', 'start'], { cwd: root, stdio: 'inherit' })
  if (status !== 0) throw new Error('the page could not be built')
})

test('a one-time link signs in on a click, once, and leaves no trace in the address', async () => {
  await using house = await openHouse()
  await using browser = await openBrowser({ width: 900, height: 640 })
  await browser.goto(house.link)
  await browser.until(`document.querySelector('h2')?.textContent === 'Welcome'`)
  await browser.evaluate(`document.querySelector('button[type=submit]').click()`)
  await browser.until(`document.querySelector('h2')?.textContent === 'Hello, admin'`)
  expect(await browser.evaluate(`location.hash + ' ' + document.querySelector('dl').innerText`)).toMatch(/^ Role\s+user, admin/)
  await browser.until(`document.getElementById('health').textContent === 'The gateway is healthy'`)
  expect(browser.complaints).toEqual([])

  await using second = await openBrowser({ width: 400, height: 700 })
  await second.goto(house.link)
  await second.until(`document.querySelector('button[type=submit]')`)
  await second.evaluate(`document.querySelector('button[type=submit]').click()`)
  await second.until(`/unknown, used or too old/.test(document.querySelector('.problem')?.textContent)`)
})

test('a name and a password sign in; signing out ends the sign-in at the gateway too', async () => {
  await using house = await openHouse(PASSWORD)
  await using browser = await openBrowser({ width: 900, height: 640 })
  await browser.goto(house.gateway.url)
  await browser.until(`document.activeElement?.id === 'username'`)
  await browser.evaluate(signInWith('not the password'))
  await browser.until(`/password is wrong/.test(document.querySelector('.problem')?.textContent)`)
  await browser.evaluate(signInWith(PASSWORD))
  await browser.until(`document.querySelector('h2')?.textContent === 'Hello, admin'`)
  const token = String(await browser.evaluate(`sessionStorage.getItem('parley.token')`))
  expect(await me(house.gateway, token)).toBe(200)
  await browser.evaluate(`[...document.querySelectorAll('button')].find((button) => button.textContent === 'Sign out').click()`)
  await browser.until(`document.querySelector('h2')?.textContent === 'Sign in'`)
  expect(await me(house.gateway, token)).toBe(401)
  expect(await browser.evaluate(`sessionStorage.length`)).toBe(0)
})

/** A gateway with the page, on a store of its own. */
async function openHouse(password?: string): Promise<AsyncDisposable & { readonly gateway: Gateway; readonly link: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-page-'))
  const store = await openStore({ url: `sqlite:${join(folder, 'parley.db')}` })
  const gateway = await openGateway({
    store,
    secret: randomBytes(32),
    listen: { host: '127.0.0.1', port: 0 },
    signup: false,
    queryToken: true,
    firstAdmin: { username: 'admin', ...(password === undefined ? {} : { password }) },
    log: createLogger({ level: 'error', destination: process.stderr }),
    now: Date.now,
    random: randomBytes,
    version: '0.0.0-test',
    page: pageFile,
  })
  return {
    gateway,
    link: gateway.signIn ?? '',
    async [Symbol.asyncDispose]() {
      await gateway.close(100)
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function pageFile(path: string): PageFile | undefined {
  const file = join(dist, path)
  if (!existsSync(file)) return undefined
  return { body: readFileSync(file), contentType: TYPES[extname(path)] ?? 'application/octet-stream', etag: `"${path}"` }
}

function signInWith(password: string): string {
  return `document.getElementById('username').value = 'admin'
    document.getElementById('password').value = ${JSON.stringify(password)}
    document.querySelector('form').requestSubmit()`
}

async function me({ url }: Gateway, token: string): Promise<number> {
  return (await fetch(`${url}/api/auth/me`, { headers: { authorization: `Bearer ${token}` } })).status
}
