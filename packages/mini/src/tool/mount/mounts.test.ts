import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { MountSpec } from '@parley/agent'
import { type Children, fixtureMount, openChildren } from '../fixture/connect-fixture.ts'
import { type Work, type WorkOptions, openWork } from '../fixture/open-work.ts'
import { MountFailed } from './mount-failed.ts'

let children: Children
beforeEach(() => {
  children = openChildren()
})
afterEach(() => children[Symbol.asyncDispose]())

const open = (mounts: readonly MountSpec[], more: WorkOptions = {}): Promise<Work> =>
  openWork({ connectMount: children.connect, ...more, options: { mounts } })

describe('the tools of a mounted server', () => {
  test('are there, from all pages, under names that models take, with schemas that providers take', async () => {
    await using work = await open([fixtureMount('box')])
    const mounted = work.toolbox.tools.filter(({ mount }) => mount === 'box')
    expect(mounted.map(({ spec, tool }) => [spec.name, tool])).toContainEqual(['box_dotted_name', 'dotted.name'])
    expect(mounted).toHaveLength(15)
    expect(mounted.filter(({ spec }) => spec.strict).map(({ tool }) => tool)).toEqual(['structured'])
    expect(work.toolbox.warnings).toEqual([
      'the schema of mixed of the mount box is replaced by one that takes anything: it refers to another document',
    ])
    expect(work.toolbox.find('box_echo')?.spec.description).toBe('does echo')
    expect(work.toolbox.find('box.echo')).toBeUndefined()
    expect(await work.text('box_dotted_name', {})).toBe('dots pass')
    expect(await work.text('box_echo', { a: { b: [1, null] } })).toBe('{"a":{"b":[1,null]}}')
  })

  test('fault 23: answer in every way that a tool can', async () => {
    await using work = await open([fixtureMount('box')])
    expect(await work.text('box_structured', {})).toBe('{"a":1,"b":[2]}')
    expect(await work.text('box_structured-alone', {})).toBe('{"a":1}')
    expect(await work.text('box_structured-apart', {})).toBe('in words')
    expect(await work.text('box_empty', {})).toBe('(the tool answered nothing)')
    expect(await work.text('box_nul', {})).toBe('abc\n[2 NUL bytes were left out]')
    expect(await work.call('box_failing', {})).toEqual({
      isError: true,
      parts: [{ type: 'text', text: 'ERROR\nit broke' }],
      raw: { content: [{ type: 'text', text: 'it broke' }], isError: true },
    })
    const mixed = await work.call('box_mixed', {})
    expect(mixed.parts).toEqual([
      { type: 'text', text: 'before\nstill before' },
      { type: 'image', url: expect.stringMatching(/^data:image\/png;base64,iVBOR/) },
      {
        type: 'text',
        text: [
          '[image, image/svg+xml, 6 bytes: not a PNG, JPEG, GIF or WebP, not shown]',
          '[audio, audio/wav, 3 bytes: not shown]',
          '[resource link: x, <file:///x.txt>, text/plain, the x]',
          '[resource <file:///y.txt>, text/plain]',
          'words of y',
          '[resource <file:///z.bin>, 3 bytes of binary data: not shown]',
        ].join('\n'),
      },
    ])
    const { parts } = await work.call('box_images', {})
    expect(parts.filter(({ type }) => type === 'image')).toHaveLength(8)
  })

  test('are cut to the bound, with the cut shown and no character parted', async () => {
    await using work = await open([fixtureMount('box')], { limits: { resultBytes: 1_000 } })
    const text = await work.text('box_huge', {})
    expect(text).toMatch(/^begin ü+\n… \d+ bytes left out …\nü+ end$/)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_000)
  })

  test('tell how far they are', async () => {
    await using work = await open([fixtureMount('box')])
    expect(await work.text('box_steps', {})).toBe('stepped')
    expect(work.events).toEqual(['1 of 3', '2 of 3', 'nearly'].map((text) => ({ type: 'tool_output', call: 'c1', text })))
  })

  test('are cancelled with the signal, and told so', async () => {
    await using work = await open([fixtureMount('box')])
    const gone = new AbortController()
    const hanging = work.call('box_hang', { mark: 'by-signal' }, { signal: gone.signal })
    expect(await work.text('box_echo', {})).toBe('{}')
    gone.abort()
    await expect(hanging).rejects.toThrow('aborted')
    await expect.poll(() => work.text('box_cancelled', {})).toBe('by-signal')
  })

  test('that take too long are an answer, and told to stop', async () => {
    await using work = await open([fixtureMount('box', { toolTimeoutMs: 500 })])
    expect(await work.call('box_hang', { mark: 'by-time' })).toEqual({
      isError: true,
      parts: [{ type: 'text', text: 'ERROR\nthe server box did not answer within 500 ms and was told to stop' }],
    })
    await expect.poll(() => work.text('box_cancelled', {})).toBe('by-time')
  })

  test('of a server that dies are an answer; the next call starts it again, but not for ever', async () => {
    await using work = await open([fixtureMount('box')])
    for (let deaths = 0; deaths < 4; deaths++) {
      const dead = await work.call('box_die', {})
      expect([dead.isError, JSON.stringify(dead.parts)]).toEqual([
        true,
        expect.stringContaining('the server box went away during the call'),
      ])
    }
    expect(await work.text('box_echo', {})).toBe('ERROR\nthe server box failed: the mount box died too often')
    expect(children.started).toHaveLength(4)
  })

  test('are the same for two servers, each under its own name', async () => {
    await using work = await open([fixtureMount('one'), fixtureMount('two-two')])
    expect(await work.text('one_echo', { n: 1 })).toBe('{"n":1}')
    expect(await work.text('two-two_echo', { n: 2 })).toBe('{"n":2}')
  })
})

describe('a server that cannot be reached', () => {
  const absent: MountSpec = {
    name: 'absent',
    required: false,
    server: { kind: 'stdio', command: process.execPath, args: ['-e', 'process.exit(3)'], env: {} },
  }

  test('is left out with a warning when nobody needs it', async () => {
    await using work = await open([absent, fixtureMount('box')])
    expect(work.toolbox.warnings[0]).toMatch(/^the mount absent could not be reached: .*; its tools are not there$/)
    expect(work.toolbox.tools.some(({ mount }) => mount === 'absent')).toBe(false)
    expect(await work.text('box_echo', {})).toBe('{}')
  })

  test('fails the whole when it is required, and takes the others with it', async () => {
    await expect(open([fixtureMount('box'), { ...absent, required: true }])).rejects.toThrow(
      expect.objectContaining({ code: 'mount_failed', mount: 'absent' }),
    )
    await expect.poll(() => children.started.every(({ exitCode }) => exitCode !== null)).toBe(true)
  })

  test('that never answers is given up in time', async () => {
    const mute = fixtureMount('mute', { args: ['mute'] })
    await expect(open([mute], { limits: { mountConnectMs: 700 } })).rejects.toThrow('the mount mute did not answer within 700 ms')
  })

  test('is not waited for when nobody waits any more', async () => {
    const gone = new AbortController()
    const opening = open([fixtureMount('mute', { args: ['mute'] })], { signal: gone.signal })
    gone.abort(new Error('nobody waits'))
    await expect(opening).rejects.toThrow('nobody waits')
  })

  test('that is connected after it was given up is closed again', async () => {
    let closed = 0
    const late = Promise.withResolvers<void>()
    const slow = fixtureMount('slow', { required: false })
    const work = await openWork({
      options: { mounts: [slow] },
      limits: { mountConnectMs: 100 },
      connectMount: async (mount) => {
        await late.promise
        const client = await children.connect(mount, new AbortController().signal)
        void client.closed.then(() => closed++)
        return client
      },
    })
    expect(work.toolbox.warnings).toEqual(['the mount slow did not answer within 100 ms; its tools are not there'])
    late.resolve()
    await expect.poll(() => closed).toBe(1)
    await work[Symbol.asyncDispose]()
  })
})

test('names of mounts are checked before anything is started', async () => {
  for (const name of ['', 'Upper', 'under_line', '1st', 'a b'])
    await expect(open([fixtureMount(name)])).rejects.toThrow(MountFailed)
  await expect(open([fixtureMount('same'), fixtureMount('same')])).rejects.toThrow('the mount same is there twice')
  expect(children.started).toEqual([])
})

test('closing closes every server', async () => {
  const work = await open([fixtureMount('one'), fixtureMount('two')])
  await work[Symbol.asyncDispose]()
  await expect.poll(() => children.started.map(({ exitCode }) => exitCode)).toEqual([0, 0])
  expect(await work.text('one_echo', {})).toBe('ERROR\nthe server one failed: the mount one was closed')
})
