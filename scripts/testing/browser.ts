import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome']
/** A busy machine makes a page late, not wrong. */
const ANSWER_LIMIT_MS = 60_000
const POLL_MS = 50
const CLOSE_LIMIT_MS = 5_000

/** A real Chromium with one tab, driven over its debugging pipe: no port, no package. */
export interface Browser extends AsyncDisposable {
  goto(url: string): Promise<void>
  /** The value of an expression in the page, by value. */
  evaluate(expression: string): Promise<unknown>
  /** Waits until an expression holds in the page. */
  until(expression: string): Promise<void>
  /** A picture of the page as PNG. */
  screenshot(): Promise<Buffer>
  /** Everything the page complained about: errors, refused scripts and styles. */
  readonly complaints: readonly string[]
}

interface Chromium {
  readonly pipe: DebuggingPipe
  close(): Promise<void>
}

/** To start one takes seconds: all tests of a file share it, each browser with a profile of its own. */
let chromium: Promise<Chromium> | undefined

/** Ends what the browsers of a file shared: to be called after all of its tests. */
export async function closeBrowsers(): Promise<void> {
  const ending = chromium
  chromium = undefined
  await (await ending)?.close()
}

async function startChromium(): Promise<Chromium> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-browser-'))
  const quiet = ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--no-first-run', '--disable-extensions']
  // A page that is not in front is looked at too.
  const awake = [
    '--disable-background-timer-throttling',
    '--disable-backgrounding-occluded-windows',
    '--disable-renderer-backgrounding',
  ]
  const args = [...quiet, ...awake, `--user-data-dir=${folder}`, '--remote-debugging-pipe']
  const child = spawn(findChromium(), args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] })
  const pipe = openPipe(child)
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const close = async (): Promise<void> => {
    const stuck = setTimeout(() => child.kill('SIGKILL'), CLOSE_LIMIT_MS)
    await pipe.ask('Browser.close', {}).catch(() => undefined)
    await ended
    clearTimeout(stuck)
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  return { pipe, close }
}

export async function openBrowser(size: { readonly width: number; readonly height: number }): Promise<Browser> {
  chromium ??= startChromium()
  const { pipe } = await chromium
  const complaints: string[] = []
  const { browserContextId } = await pipe.ask('Target.createBrowserContext', {})
  const { targetId } = await pipe.ask('Target.createTarget', { url: 'about:blank', browserContextId, newWindow: true, ...size })
  const { sessionId } = await pipe.ask('Target.attachToTarget', { targetId, flatten: true })
  const forget = pipe.listen(String(sessionId), (method, params) => {
    if (COMPLAINTS.has(method)) complaints.push(JSON.stringify(params))
  })
  const ask = (method: string, params: object = {}): Promise<Answer> => pipe.ask(method, params, String(sessionId))
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await ask(`${domain}.enable`)
  // A window has a least width; a phone is narrower.
  await ask('Emulation.setDeviceMetricsOverride', { ...size, deviceScaleFactor: 1, mobile: false })

  const evaluate = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await ask('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`)
    return member(result, 'value')
  }
  const until = async (expression: string): Promise<void> => {
    const deadline = Date.now() + ANSWER_LIMIT_MS
    while ((await evaluate(`Boolean(${expression})`).catch(() => false)) !== true) {
      if (Date.now() > deadline)
        throw new Error(`waited in vain for ${expression}; the page shows ${String(await evaluate('document.body.innerText'))}`)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }
  return {
    complaints,
    evaluate,
    until,
    async goto(url) {
      await ask('Page.navigate', { url })
      await until(`document.readyState === 'complete' && location.href.startsWith(${JSON.stringify(url.replace(/#.*/, ''))})`)
    },
    async screenshot() {
      const { data } = await ask('Page.captureScreenshot', { format: 'png' })
      return Buffer.from(String(data), 'base64')
    },
    async [Symbol.asyncDispose]() {
      forget()
      await pipe.ask('Target.disposeBrowserContext', { browserContextId })
    },
  }
}

/** How long and how often `expect.poll` looks at a page: it draws when it gets to it. */
export const SOON = { timeout: ANSWER_LIMIT_MS, interval: POLL_MS }

/** Clicks the first that fits, as soon as it is there. */
export const click = (browser: Browser, selector: string, name?: string): Promise<void> =>
  browser.until(`(() => {
    const fits = (one) => ${name === undefined ? 'true' : `one.textContent === ${JSON.stringify(name)}`}
    const found = [...document.querySelectorAll(${JSON.stringify(selector)})].find(fits)
    found?.click()
    return found !== undefined
  })()`)

const COMPLAINTS = new Set(['Runtime.exceptionThrown', 'Log.entryAdded'])

type Answer = Readonly<Record<string, unknown>>
type Told = (method: string, params: unknown) => void
interface DebuggingPipe {
  ask(method: string, params: object, sessionId?: string): Promise<Answer>
  /** What a page tells by itself, until it is forgotten. */
  listen(sessionId: string, told: Told): () => void
}

/** The debugging pipe: JSON with a zero byte after each message. */
function openPipe(child: ChildProcess): DebuggingPipe {
  const [, , , input, output] = child.stdio
  const waiting = new Map<number, PromiseWithResolvers<Answer>>()
  const listening = new Map<string, Told>()
  let lastId = 0
  let rest = ''
  const take = (text: string): void => {
    const message: unknown = JSON.parse(text)
    const answered = waiting.get(Number(member(message, 'id')))
    if (answered === undefined) {
      listening.get(String(member(message, 'sessionId')))?.(String(member(message, 'method')), member(message, 'params'))
      return
    }
    waiting.delete(Number(member(message, 'id')))
    const error = member(message, 'error')
    if (error === undefined) answered.resolve(Object(member(message, 'result')))
    else answered.reject(new Error(JSON.stringify(error)))
  }
  reading(output).on('data', (chunk: string) => {
    const pieces = (rest + chunk).split('\0')
    rest = pieces.pop() ?? ''
    for (const piece of pieces) take(piece)
  })
  child.on('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('the browser ended'))
  })
  return {
    ask(method, params, sessionId) {
      lastId += 1
      const answer = Promise.withResolvers<Answer>()
      waiting.set(lastId, answer)
      writing(input).write(
        `${JSON.stringify({ id: lastId, method, params, ...(sessionId === undefined ? {} : { sessionId }) })}\0`,
      )
      return answer.promise
    },
    listen(sessionId, told) {
      listening.set(sessionId, told)
      return () => void listening.delete(sessionId)
    },
  }
}

function findChromium(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const found = PROGRAMS.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram)
  if (found === undefined) throw new Error('no Chromium on the path: apt-get install chromium')
  return found
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

type Pipe = Readable | Writable | null | undefined

function reading(stream: Pipe): Readable {
  if (stream === null || stream === undefined || !('read' in stream)) throw new TypeError('not a pipe to read from')
  return stream.setEncoding('utf8')
}
function writing(stream: Pipe): Writable {
  if (stream === null || stream === undefined || !('write' in stream)) throw new TypeError('not a pipe to write to')
  return stream
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
