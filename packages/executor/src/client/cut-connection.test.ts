import { createHash } from 'node:crypto'
import { connectClient, WireError } from '@parley/rpc'
import type { FrameLink } from '@parley/rpc/frame'
import { expect, test } from 'vitest'
import type { ExecSpec } from '../backend/exec-spec.ts'
import { gone } from '../local/fixture/gone.ts'
import type { ExecProcess } from '../process/exec-process.ts'
import { followProcess, type ProcessEnd } from '../process/follow-process.ts'
import { startMcpServer } from '../transport/start-mcp-server.ts'
import { openCuttableServer } from './fixture/cuttable-server.ts'
import { openExecutor } from './open-executor.ts'

const sh = (script: string, more: Partial<ExecSpec> = {}): ExecSpec => ({
  processId: 'p',
  argv: ['/bin/sh', '-c', script],
  env: { PATH: '/usr/bin:/bin' },
  cwd: '/',
  tty: false,
  pipeStdin: true,
  onFull: 'hold',
  ...more,
})

/** Everything that it says on stdout, and how it ended. */
function follow(process: ExecProcess) {
  const hash = createHash('sha256')
  const state = { bytes: 0, text: '', lagged: 0, isOver: false }
  const ended = new Promise<ProcessEnd>((resolve) => {
    followProcess(process, {
      output: ({ stream, bytes }) => {
        if (stream !== 'stdout') return
        hash.update(bytes)
        state.bytes += bytes.length
        if (state.text.length < 1_000) state.text += bytes.toString()
      },
      lagged: () => (state.lagged += 1),
      ended: (end) => {
        state.isOver = true
        resolve(end)
      },
    })
  })
  return { state, ended, hash: () => hash.digest('hex') }
}

const LINES = 60_000
const COUNTING = `i=0; while [ $i -lt ${LINES} ]; do echo "line $i is counted here"; i=$((i+1)); done`
const COUNTED = createHash('sha256')
  .update(Array.from({ length: LINES }, (_, at) => `line ${at} is counted here\n`).join(''))
  .digest('hex')

test('a stream that is cut again and again arrives whole: not a byte lost, not one twice', async () => {
  await using there = await openCuttableServer()
  await using executor = await openExecutor({ dial: there.dial, clientName: 'test' })
  const followed = follow(await executor.start(sh(COUNTING, { retainBytes: 64 * 1024 })))
  for (let cuts = 0; cuts < 5; cuts += 1) {
    const before = followed.state.bytes
    await expect.poll(() => followed.state.isOver || followed.state.bytes > before).toBe(true)
    there.cut()
  }
  expect(await followed.ended).toEqual({ kind: 'closed' })
  expect(followed.hash()).toBe(COUNTED)
})

test('texts that come twice, not at all or in another order are passed over, read back or put in order', async () => {
  await using there = await openCuttableServer()
  await using executor = await openExecutor({ dial: there.dial, clientName: 'test' })
  let count = 0
  const late: string[] = []
  there.state.meddle = (text) => {
    if (!text.includes('process/output')) return [text]
    count += 1
    if (count % 7 === 0) return []
    if (count % 11 === 0) {
      late.push(text)
      return []
    }
    return [...(count % 5 === 0 ? [text, text] : [text]), ...late.splice(0)]
  }
  const followed = follow(await executor.start(sh(COUNTING)))
  expect(await followed.ended).toEqual({ kind: 'closed' })
  expect(followed.hash()).toBe(COUNTED)
  expect(there.state.asked.some((text) => text.includes('process/read'))).toBe(true)
})

test('what comes before its turn waits for it', async () => {
  await using there = await openCuttableServer()
  await using executor = await openExecutor({ dial: there.dial, clientName: 'test' })
  // As the real one does it now and then: the exit and what follows it before the last that was said.
  const late: string[] = []
  there.state.meddle = (text) => {
    if (!text.includes('process/output')) return [text, ...late.splice(0)]
    late.push(text)
    return []
  }
  const followed = follow(await executor.start(sh('echo one', { pipeStdin: false, onFull: 'drop' })))
  expect(await followed.ended).toEqual({ kind: 'closed' })
  expect(followed.state.text).toBe('one\n')
})

test('what never came and is not kept any more is all that is lost', async () => {
  await using there = await openCuttableServer()
  await using executor = await openExecutor({ dial: there.dial, clientName: 'test' })
  const lost: string[] = []
  there.state.meddle = (text) => {
    if (!text.includes('process/output') || lost.length === 3) return [text]
    lost.push(text)
    return []
  }
  const total = 4 * 1024 * 1024
  const spec = sh(`head -c ${total} /dev/zero`, { pipeStdin: false, onFull: 'drop', retainBytes: 64 * 1024 })
  const process = await executor.start(spec)
  let bytes = 0
  const skipped: number[] = []
  process.subscribe((event) => {
    if (event.kind === 'output') bytes += event.bytes.length
    else if (event.kind === 'lagged') skipped.push(event.skipped)
  })
  await process.ended
  const lostBytes = lost.reduce((sum, text) => sum + Buffer.from(JSON.parse(text).params.chunk, 'base64').length, 0)
  expect({ bytes, skipped }).toEqual({ bytes: total - lostBytes, skipped: [3] })
})

test('what was asked when the connection was cut is asked again, and done once', async () => {
  await using there = await openCuttableServer()
  await using executor = await openExecutor({ dial: there.dial, clientName: 'test' })
  // The answers to a start and to a write are lost together with the connection.
  const loseAnswer = (part: string) => {
    there.state.meddle = (text) => {
      if (!text.includes(part)) return [text]
      there.state.meddle = (each) => [each]
      there.cut()
      return []
    }
  }
  loseAnswer('sandboxType')
  const process = await executor.start(sh('while read line; do echo "got $line"; done'))
  const followed = follow(process)
  expect(there.state.asked.filter((text) => text.includes('process/start'))).toHaveLength(2)
  loseAnswer('accepted')
  expect(await process.write(Buffer.from('once\n'))).toBe('accepted')
  expect(await process.write(Buffer.from('twice\n'))).toBe('accepted')
  await expect.poll(() => followed.state.text).toBe('got once\ngot twice\n')
  expect(there.state.asked.filter((text) => text.includes('process/write')).length).toBeGreaterThan(2)
})

test('a word about what was taken that is lost with its connection does not leave the process waiting', async () => {
  await using there = await openCuttableServer()
  await using executor = await openExecutor({ dial: there.dial, clientName: 'test' })
  const followed = follow(await executor.start(sh(COUNTING, { retainBytes: 64 * 1024 })))
  // Nothing that is said about it arrives until the process waits.
  there.state.isDeaf = true
  await expect.poll(() => followed.state.bytes).toBeGreaterThan(64 * 1024)
  there.state.isDeaf = false
  there.cut()
  expect(await followed.ended).toEqual({ kind: 'closed' })
  expect(followed.hash()).toBe(COUNTED)
})

test('where a gateway says that the executor will be there again it is tried again, and nowhere else', async () => {
  await using there = await openCuttableServer()
  let dials = 0
  const failing = (status: number) => async () => {
    dials += 1
    if (dials < 3) throw new WireError('http_status', 'not now', { status })
    return there.dial()
  }
  await using executor = await openExecutor({ dial: failing(503), clientName: 'test' })
  expect(executor.info).toHaveProperty('capabilities')
  expect(dials).toBe(3)
  dials = 0
  await expect(openExecutor({ dial: failing(404), clientName: 'test' })).rejects.toThrow('not now')
  expect(dials).toBe(1)
})

test('once coming back has failed for good every operation fails at once with a code, and pending ones reject', async () => {
  await using there = await openCuttableServer()
  const executor = await openExecutor({ dial: there.dial, clientName: 'test', recoveryMs: 100 })
  const process = await executor.start(sh('echo $$; exec sleep 1000'))
  const followed = follow(process)
  await expect.poll(() => followed.state.text).toContain('\n')
  const reading = process.read({ afterSeq: 1, waitMs: 60_000 })
  reading.catch(() => undefined)
  there.state.isRefusing = true
  there.cut()
  await expect(reading).rejects.toMatchObject({ code: 'executor_lost' })
  expect(await followed.ended).toMatchObject({ kind: 'failed', message: expect.stringContaining('the executor is lost') })
  for (const operation of [
    () => process.write(Buffer.from('x')),
    () => process.read({}),
    () => process.terminate(),
    () => process.signal('interrupt'),
    () => executor.start(sh('true', { processId: 'q' })),
  ])
    await expect(operation()).rejects.toMatchObject({ code: 'executor_lost' })
})

test('a server that forgot the session is the end at once, and its processes are gone there', async () => {
  await using there = await openCuttableServer()
  const executor = await openExecutor({ dial: there.dial, clientName: 'test', detachMs: 1 })
  const process = await executor.start(sh('echo $$; trap "" HUP; exec sleep 1000'))
  const followed = follow(process)
  await expect.poll(() => followed.state.text).toContain('\n')
  there.state.isRefusing = true
  there.cut()
  await gone(Number(followed.state.text))
  there.state.isRefusing = false
  expect(await followed.ended).toMatchObject({ kind: 'failed', message: expect.stringContaining('unknown session id') })
})

test('a reader that lags by 10 MiB: held, nothing is lost; dropped, it is said', async () => {
  await using there = await openCuttableServer()
  await using executor = await openExecutor({ dial: there.dial, clientName: 'test' })
  const script = 'head -c 10485760 /dev/zero'
  const held = await executor.start(sh(script, { processId: 'held', retainBytes: 128 * 1024 }))
  await expect.poll(async () => (await held.read({})).chunks.length).toBeGreaterThan(0)
  expect(await held.read({})).toMatchObject({ exited: false, truncated: false })
  const followed = follow(held)
  expect(await followed.ended).toEqual({ kind: 'closed' })
  expect(followed.state.bytes).toBe(10_485_760)
  const dropped = await executor.start(sh(script, { processId: 'dropped', onFull: 'drop' }))
  await dropped.ended
  expect(await dropped.read({})).toMatchObject({ truncated: true })
  const late = follow(dropped)
  expect(await late.ended).toMatchObject({ kind: 'gap', expected: 1 })
})

test('an MCP server behind a connection that is cut in the middle of a call answers, and did it once', async () => {
  await using there = await openCuttableServer()
  await using executor = await openExecutor({ dial: there.dial, clientName: 'test' })
  const script = `while read line; do
    case "$line" in
      *'"method":"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}';;
      *'"method":"ping"'*) echo called >&2; sleep 0.3; id=\${line#*\\"id\\":}; echo '{"jsonrpc":"2.0","id":'"\${id%%,*}"',"result":{}}';;
    esac
  done`
  const logged: string[] = []
  const transport = await startMcpServer(
    { command: '/bin/sh', args: ['-c', script], env: { PATH: '/usr/bin:/bin' }, cwd: '/' },
    executor,
    { log: (level, message) => void logged.push(`${level} ${message}`) },
  )
  const client = await connectClient(transport, { clientInfo: { name: 'test', version: '1' }, era: 'legacy' })
  for (let calls = 1; calls <= 3; calls += 1) {
    const calling = client.request('ping')
    await expect.poll(() => logged.filter((line) => line.endsWith('called'))).toHaveLength(calls)
    there.cut()
    expect(await calling).toEqual({})
  }
  await client.close()
  await expect.poll(() => there.processes.count()).toBe(0)
  expect(logged.filter((line) => line.endsWith('called'))).toHaveLength(3)
})

test('a connection that is gone for us alone costs nothing: the server still holds it for one', async () => {
  await using there = await openCuttableServer()
  let lose = (): void => undefined
  const dial = async (): Promise<FrameLink> => {
    const link = await there.dial()
    return {
      ...wireOf(link),
      open: (sink) => {
        let isLost = false
        lose = () => {
          isLost = true
          sink.ended('the network went away')
        }
        link.open({ ...sink, text: (text) => (isLost ? undefined : sink.text(text)) })
      },
      // Nobody would hear it.
      close: () => undefined,
    }
  }
  await using executor = await openExecutor({ dial, clientName: 'test', recoveryMs: 2_000 })
  const process = await executor.start(sh('cat'))
  const followed = follow(process)
  await process.write('one ')
  await expect.poll(() => followed.state.text).toBe('one ')
  lose()
  expect(await process.write('two')).toBe('accepted')
  await expect.poll(() => followed.state.text).toBe('one two')
})

const wireOf = (link: FrameLink): Omit<FrameLink, 'open' | 'close'> => ({
  send: (text) => link.send(text),
  bufferedBytes: () => link.bufferedBytes(),
  drained: (belowBytes) => link.drained(belowBytes),
})
