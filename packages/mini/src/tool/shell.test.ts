import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { CommandRequest, Commands } from '@parley/agent'
import { openLocalCommands } from '@parley/agent/testing'
import { fitsStrict } from '../model/strict-schema.ts'
import { asksForMore } from './escalation.ts'
import { openWork } from './fixture/open-work.ts'

const commands = openLocalCommands()
/** A shell that reads nobody's profile: what stands there is not ours to start, nor to kill halfway. */
const sh = (line: string): string[] => ['sh', '-c', line]

describe('shell', () => {
  test('is not there without anything to run commands', async () => {
    await using work = await openWork()
    expect(work.toolbox.tools.map(({ tool }) => tool)).toEqual([
      'apply_patch',
      'read_file',
      'list_files',
      'search',
      'update_plan',
    ])
  })

  test('runs a program, or a line by bash, and answers exit code and streams', async () => {
    await using work = await openWork({ commands })
    const line = await work.call('shell', { command: sh('echo out; echo err >&2; exit 3') })
    expect(line).toMatchObject({ isError: true, exitCode: 3, output: expect.stringContaining('out\n') })
    expect(line.parts).toEqual([
      { type: 'text', text: expect.stringMatching(/^exit code 3 after \d+\.\d s\nstdout:\nout\n\nstderr:\nerr\n$/) },
    ])
    expect(await work.text('shell', { command: ['printf', '%s', '$HOME *'] })).toMatch(
      /^exit code 0 after .* s\nstdout:\n\$HOME \*$/,
    )
    expect(await work.text('shell', { command: ['true'] })).toMatch(/\(no output\)$/)
    const said = work.events.flatMap((event) =>
      event.type === 'command_output' ? [[event.call, event.stream, Buffer.from(event.bytes).toString()]] : [],
    )
    expect(said).toContainEqual(['c1', 'stderr', 'err\n'])
  })

  test('runs below the working folder and nowhere else', async () => {
    await using work = await openWork({ commands })
    mkdirSync(join(work.folder, 'sub'))
    symlinkSync('../outside', join(work.folder, 'out'))
    expect(await work.text('shell', { command: ['pwd'], workdir: 'sub' })).toContain(`${work.folder}/sub\n`)
    for (const workdir of ['..', 'out', '/', 'none', 'a\0b'])
      expect(await work.call('shell', { command: ['touch', 'made'], workdir })).toMatchObject({ isError: true, exitCode: null })
    expect(existsSync(join(work.outside, 'made'))).toBe(false)
  })

  test('says plainly that the time is up', async () => {
    await using work = await openWork({ commands })
    const result = await work.call('shell', { command: sh('echo begun; sleep 60'), timeout_ms: 2_000 })
    expect(result).toMatchObject({
      isError: true,
      parts: [{ text: expect.stringContaining('timed out: it was killed after 2000 ms') }],
    })
    expect(result.output).toBe('begun\n')
  })

  test('keeps head and tail of what is too long, and streams no more than a bound', async () => {
    await using work = await openWork({ commands, limits: { resultBytes: 2_000 } })
    const text = await work.text('shell', { command: ['seq', '1', '500000'] })
    expect(text).toMatch(/stdout:\n1\n2\n[^]*\n… \d+ bytes left out …\n[^]*\n499999\n500000\n$/)
    expect(Buffer.byteLength(text)).toBeLessThan(2_100)
    const streamed = work.events.reduce((sum, event) => sum + (event.type === 'command_output' ? event.bytes.length : 0), 0)
    expect(streamed).toBeLessThan(1024 * 1024 + 100)
  })

  test('leaves out NUL and shows what is not UTF-8', async () => {
    await using work = await openWork({ commands })
    const { parts, output } = await work.call('shell', { command: ['printf', String.raw`a\0b\377`] })
    expect(parts).toEqual([{ type: 'text', text: expect.stringMatching(/stdout:\nab\uFFFD\n\[1 NUL bytes were left out\]$/) }])
    expect(output).toBe('ab\uFFFD')
  })

  test('uses what the port kept where the port did not stream, and tells refusals', async () => {
    const requests: CommandRequest[] = []
    const outcome = {
      exitCode: 0,
      signal: null,
      timedOut: false,
      message: null,
      stderr: Buffer.from(''),
      stderrBytes: 0,
      durationMs: 1,
    }
    const silent: Commands = {
      run: (request) => {
        requests.push(request)
        if (request.argv[0] === 'refused')
          return Promise.resolve({ ...outcome, exitCode: null, message: 'not here', stdout: Buffer.from(''), stdoutBytes: 0 })
        if (request.argv[0] === 'broken') return Promise.reject(new Error('no sandbox'))
        return Promise.resolve({ ...outcome, stdout: Buffer.from('head'), stdoutBytes: 1_004 })
      },
    }
    await using work = await openWork({ commands: silent, limits: { commandMs: 5_000, toolMs: 9_000 } })
    expect(await work.text('shell', { command: ['x'], timeout_ms: 1e9 }, { reach: 'full-access', network: true })).toContain(
      'stdout:\nhead\n… 1000 bytes left out …',
    )
    expect(await work.text('shell', { command: ['refused'] })).toBe('the command did not run: not here\n(no output)')
    expect(await work.text('shell', { command: ['broken'] })).toBe('the command could not be run: no sandbox')
    expect(requests.map(({ timeoutMs, reach, network }) => [timeoutMs, reach, network])).toEqual([
      [9_000, 'full-access', true],
      [5_000, 'workspace-write', false],
      [5_000, 'workspace-write', false],
    ])
  })

  test('is given up with the signal', async () => {
    await using work = await openWork({ commands })
    const gone = new AbortController()
    const running = work.call('shell', { command: ['sleep', '60'] }, { signal: gone.signal })
    gone.abort()
    await expect(running).rejects.toThrow('aborted')
  })

  test('offers to ask for more only where somebody can be asked', async () => {
    for (const [approvals, offers] of [
      ['on-request', true],
      ['never', false],
      ['always', false],
    ] as const) {
      await using work = await openWork({ commands, options: { approvals } })
      const tool = work.toolbox.find('shell')
      expect(Object.keys(tool?.spec.parameters['properties'] ?? {}).includes('with_escalated_permissions')).toBe(offers)
      const asking = { command: 'true', with_escalated_permissions: true, justification: 'needs more' }
      if (offers)
        expect(await tool?.subject(asking)).toEqual({ kind: 'command', argv: ['bash', '-lc', 'true'], folder: work.folder })
      else expect(() => tool?.subject(asking)).toThrow('with_escalated_permissions')
    }
    expect(asksForMore('shell', { with_escalated_permissions: true, justification: 'x' })).toEqual({ justification: 'x' })
    expect(asksForMore('shell', { command: 'true' })).toBeUndefined()
  })
})

test('every own tool has a schema that a strict mode takes', async () => {
  await using work = await openWork({ commands, options: { approvals: 'on-request' } })
  expect(work.toolbox.tools.map(({ spec }) => [spec.name, spec.strict, fitsStrict(spec.parameters)])).toEqual(
    ['shell', 'apply_patch', 'read_file', 'list_files', 'search', 'update_plan'].map((name) => [name, true, true]),
  )
})

test('update_plan shows the plan', async () => {
  await using work = await openWork()
  const plan = [
    { step: 'look', status: 'completed' },
    { step: 'leap', status: 'in_progress' },
  ]
  expect(await work.text('update_plan', { plan })).toBe('the plan is shown')
  expect(work.events).toEqual([{ type: 'plan', explanation: null, steps: plan }])
  await expect(work.call('update_plan', { plan: [{ step: 'x', status: 'later' }] })).rejects.toThrow('plan.0.status: ')
})
