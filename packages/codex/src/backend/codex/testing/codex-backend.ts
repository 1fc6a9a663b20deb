import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Recorder } from '@parley/agent/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { peerFor } from '../../../../../../scripts/peers/peer-or-skip.ts'
import { openBridge } from '../../../bridge/open-bridge.ts'
import { type CodexWorld, holdSignInPort, openCodexWorld } from '../../../testing/index.ts'
import type { OpenOrder } from '../../../order.ts'
import type { Backend } from '../../backend.ts'
import { openCodexBackend } from '../open-codex-backend.ts'

const NEWEST = 'codex-0.166'
const CONFIG = `
[profiles.fast]
model = "quick"
model_reasoning_effort = "low"
`
/** With the provider of OpenAI, as far as signing in goes; nothing is asked of it. */
const NEVER = new AbortController().signal

/** Others want the same port. */
const TAKES_TURNS = { timeout: 90_000 }

/** The backend in front of one real Codex. */
export function codexBackend(name: typeof NEWEST | 'codex-0.44' | 'codex-0.42'): void {
  describe(`${name}`, () => {
    backendTests(name)
  })
}

function backendTests(name: Parameters<typeof codexBackend>[0]): void {
  const opened: { world: CodexWorld; backend: Backend }[] = []
  afterAll(async () => {
    for (const { world, backend } of opened) {
      await backend.close()
      await world[Symbol.asyncDispose]()
    }
  })
  const open = async (skip: Parameters<typeof peerFor>[0]) => {
    const [known] = opened
    if (known !== undefined) return known
    const peer = await peerFor(skip, name)
    const world = await openCodexWorld({ peer, extra: CONFIG })
    const bridge = await openBridge({
      start: world.start,
      version: peer.version,
      client: { name: 'backend-test', version: '1' },
      warn: () => undefined,
      now: Date.now,
      random: randomBytes,
      codexHome: world.home.path,
    })
    const made = { world, backend: openCodexBackend({ bridge, now: Date.now, codexHome: world.home.path }) }
    opened.push(made)
    return made
  }

  test('conversations are listed and archived', async (context) => {
    const { world, backend } = await open(context)
    const { folder } = await world.options('m')
    const converse = async (text: string) => {
      const conversation = await backend.open(
        { model: 'm', folder, approvalPolicy: 'never', sandbox: 'danger-full-access' },
        new Recorder(),
      )
      world.script('m', [[{ say: 'ok' }]])
      expect(await conversation.submit({ input: [{ type: 'text', text }] }).ended).toEqual({ kind: 'completed', message: 'ok' })
      return conversation
    }
    const first = await converse('first text')
    const second = await converse('second text')
    const page = await backend.conversations.list({ pageSize: 9 })
    expect(page.items.map(({ preview }) => preview).toSorted()).toEqual(['first text', 'second text'])
    expect(page.items.find(({ preview }) => preview === 'first text')).toMatchObject({
      conversationId: first.id,
      path: first.rolloutPath,
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    // Some versions name a next page that is empty.
    if (page.nextCursor !== null)
      expect((await backend.conversations.list({ pageSize: 9, cursor: page.nextCursor })).items).toEqual([])
    const archive = (which: { id: string; path: string }) => backend.conversations.archive(which)
    await expect(archive({ id: first.id, path: '/etc/passwd' })).rejects.toThrow(
      'rollout path `/etc/passwd` must be in sessions directory',
    )
    await first.close()
    await archive({ id: first.id, path: first.rolloutPath })
    expect(existsSync(first.rolloutPath)).toBe(false)
    const left = await backend.conversations.list({ pageSize: 9 })
    expect(left.items.map(({ conversationId }) => conversationId)).toEqual([second.id])
    await second.close()
  })

  test("the user's file is read in the shape of old, and the model is written to it", async (context) => {
    const { world, backend } = await open(context)
    const saved = await backend.settings.saved()
    expect(saved).toMatchObject({
      model: 'gpt-5',
      profiles: { fast: { model: 'quick', modelProvider: null, approvalPolicy: null } },
    })
    await backend.settings.setDefaultModel('another', 'high')
    expect(readFileSync(world.home.configPath, 'utf8')).toMatch(/^model = "another"/m)
    expect(await backend.settings.saved()).toMatchObject({ model: 'another', modelReasoningEffort: 'high' })
    await backend.settings.setDefaultModel(null, null)
    expect(readFileSync(world.home.configPath, 'utf8')).not.toContain('another')
  })

  test('a profile is a table of the configuration, whatever this version makes of that', async (context) => {
    const { world, backend } = await open(context)
    const { folder } = await world.options('m')
    const opened = async (order: OpenOrder) => {
      const conversation = await backend.open({ folder, ...order }, new Recorder())
      await conversation.close()
      return conversation
    }
    expect(await opened({ profile: 'fast' })).toMatchObject({ model: 'quick', effort: 'low' })
    expect(await opened({ config: { profile: 'fast' } })).toMatchObject({ model: 'quick' })
    expect(await opened({ profile: 'fast', model: 'ordered' })).toMatchObject({ model: 'ordered', effort: 'low' })
    // A profile wins over single settings.
    const config = { model_reasoning_effort: 'high', model: 'set' }
    expect(await opened({ profile: 'fast', config })).toMatchObject({ model: 'quick', effort: 'low' })
    await expect(opened({ profile: 'nope' })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('config profile `nope` not found'),
    })
    await expect(opened({ profile: '../config' })).rejects.toThrow('not found')
    if (name !== NEWEST) return
    // As this version itself has them: a file of its own.
    writeFileSync(join(world.home.path, 'own.config.toml'), 'model = "of-file"\napproval_policy = "on-failure"\n')
    expect(await opened({ profile: 'own' })).toMatchObject({ model: 'of-file' })
    writeFileSync(join(world.home.path, 'own.config.toml'), 'model = \n')
    await expect(opened({ profile: 'own' })).rejects.toThrow('config profile `own` cannot be read: line 1')
  })

  test('a profile that the file itself names is read, and where Codex refuses it the way out is said', async (context) => {
    const { world, backend } = await open(context)
    const { folder } = await world.options('m')
    const { configPath } = world.home
    const before = readFileSync(configPath, 'utf8')
    writeFileSync(configPath, `profile = "fast"\n${before}`)
    try {
      expect(await backend.settings.saved()).toMatchObject({ profile: 'fast', profiles: { fast: { model: 'quick' } } })
      const opening = backend.open({ folder }, new Recorder())
      if (name !== NEWEST) return expect(await opening).toMatchObject({ model: 'quick' })
      await expect(opening).rejects.toMatchObject({
        code: 'invalid_request',
        message: `Codex 0.166.0 does not work with the line \`profile = "fast"\` in ${configPath}: take it out, and name the profile with each conversation`,
      })
    } finally {
      writeFileSync(configPath, before)
    }
  })

  test('a key signs in and out', async (context) => {
    const { world, backend } = await open(context)
    const { account } = backend
    // Another provider than OpenAI's is set, so who is signed in does not matter.
    expect(await account.status({ includeToken: true, refreshToken: false })).toEqual({
      method: null,
      token: null,
      requiresOpenaiAuth: false,
    })
    await account.loginApiKey('sk-abc')
    const file = join(world.home.path, 'auth.json')
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ OPENAI_API_KEY: 'sk-abc' })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await account.email()).toBeNull()
    await account.logout()
    expect(existsSync(file)).toBe(false)
  })

  test(
    'a sign-in in the browser begins, is cancelled, and ends with what the browser brings back',
    TAKES_TURNS,
    async (context) => {
      const { account } = (await open(context)).backend
      // Every Codex of a machine wants the same port for it: one is enough.
      if (name !== NEWEST) return expect(await account.email()).toBeNull()
      using _port = await holdSignInPort()
      const login = await account.loginChatGpt()
      expect(login.authUrl).toContain('https://auth.openai.com/oauth/authorize')
      const nobody = '00000000-0000-7000-8000-000000000000'
      await expect(account.cancelLogin(nobody)).rejects.toThrow(`login id not found: ${nobody}`)
      await account.cancelLogin(login.loginId)
      expect(await login.done).toEqual({ success: false, error: expect.stringContaining('Login was not completed') })
      const again = await account.loginChatGpt()
      const asked = new URL(again.authUrl).searchParams
      const back = new URL(asked.get('redirect_uri') ?? '')
      back.hostname = '127.0.0.1'
      back.search = String(
        new URLSearchParams({ state: asked.get('state') ?? '', error: 'access_denied', error_description: 'not me' }),
      )
      await (await fetch(back)).text()
      expect(await again.done).toEqual({ success: false, error: expect.stringContaining('not me') })
    },
  )

  test('the machine is asked in the same words', async (context) => {
    const { world, backend } = await open(context)
    const { workspace } = backend
    const full = { mode: 'danger-full-access' } as const
    expect(await workspace.exec({ argv: ['sh', '-c', 'echo o; echo e >&2; exit 3'], sandboxPolicy: full })).toEqual({
      exitCode: 3,
      stdout: 'o\n',
      stderr: 'e\n',
    })
    await expect(workspace.exec({ argv: ['sleep', '9'], timeoutMs: 200, sandboxPolicy: full })).rejects.toMatchObject({
      code: 'failed',
      message: 'exec failed: sandbox error: command timed out',
    })
    await expect(workspace.exec({ argv: ['no-such-program'], sandboxPolicy: full })).rejects.toMatchObject({
      code: 'failed',
      message: 'exec failed: No such file or directory (os error 2)',
    })
    await expect(workspace.exec({ argv: [] })).rejects.toThrow('command must not be empty')
    await expect(workspace.diffToRemote(world.home.path)).rejects.toMatchObject({
      code: 'invalid_request',
      message: `failed to compute git diff to remote for cwd: ${JSON.stringify(world.home.path)}`,
    })
    const stop = new AbortController()
    const pidFile = join(world.folder, 'command.pid')
    const script = `echo $$ > ${pidFile}; exec sleep 60`
    const running = workspace.exec({ argv: ['sh', '-c', script], timeoutMs: 60_000, sandboxPolicy: full }, stop.signal)
    const failure = running.catch((error: unknown) => error)
    await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').trim() !== '').toBe(true)
    stop.abort()
    expect(await failure).toMatchObject({ code: 'failed', message: 'exec failed: the command was stopped' })
    // Older versions cannot be told.
    const pid = Number(readFileSync(pidFile, 'utf8'))
    if (name === NEWEST) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    else process.kill(pid)
    const long = { argv: ['sh', '-c', 'head -c 3000000 /dev/zero | tr "\\0" x'], sandboxPolicy: full }
    expect((await workspace.exec(long)).stdout.length).toBeLessThanOrEqual(1024 * 1024)
    const [found] = await workspace.search({ query: 'config', roots: [world.home.path] }, NEVER)
    expect(found).toMatchObject({
      root: world.home.path,
      path: 'config.toml',
      fileName: 'config.toml',
      indices: [0, 1, 2, 3, 4, 5],
    })
  })
}
