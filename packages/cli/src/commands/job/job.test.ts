import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CompareMode, JOB_LIMITS, type JobId, JobStatus, Language } from '@parley/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LocalGateway } from '../../fixture/local-gateway.ts'
import { MANY_PROCESSES, Scratch } from '../../fixture/parley.ts'
import { runHere } from '../../fixture/run-here.ts'
import { type Script, codeFor } from '../../fixture/scripted-tester.ts'
import { openTestWorker } from '../../fixture/test-worker.ts'
import { JOB_WORDS } from './job-table.ts'

const ONE = ['--tests', 'one'] as const
const lines = (out: string) =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

/** A gateway and a judge of this process, and the commands beside them. */
async function openBench() {
  const scratch = new Scratch()
  const gateway = await LocalGateway.open(scratch.data)
  const judge = await openTestWorker(gateway, scratch.folder)
  mkdirSync(join(scratch.folder, 'one'))
  writeFileSync(join(scratch.folder, 'one/1.in'), '')
  writeFileSync(join(scratch.folder, 'one/1.out'), '')
  const write = (name: string, script: Script): string => {
    writeFileSync(join(scratch.folder, name), codeFor(script))
    return name
  }
  return {
    scratch,
    gateway,
    judge,
    write,
    run: (...args: string[]) => scratch.run(['job', ...args, '--data', scratch.data]),
    here: (...args: string[]) => runHere(['job', ...args, '--data', scratch.data], { cwd: scratch.folder }),
    async [Symbol.asyncDispose]() {
      await judge[Symbol.asyncDispose]()
      await gateway[Symbol.asyncDispose]()
      await scratch[Symbol.asyncDispose]()
    },
  }
}

test('a job from the shell: submit, list, show, artifacts, retry, delete', MANY_PROCESSES, async () => {
  await using bench = await openBench()
  const { gateway, run, here, scratch } = bench
  const made = await run('submit', '--code', bench.write('good.cpp', { lines: 3 }), ...ONE, '--json')
  expect(made).toMatchObject({ code: 0, err: '' })
  const said = lines(made.out)
  expect(said[0]).toMatchObject({ job_id: expect.stringMatching(/^job_/), created_at: expect.any(String) })
  expect(said.at(-1)).toMatchObject({ job_id: said[0].job_id, status: 'succeeded', report: { status: 'succeeded' } })
  expect(said.slice(1, -1).map(({ event }) => event)).toContain('agent_status')
  expect(said.at(-2)).toMatchObject({ event: 'state', status: 'succeeded' })
  const id: JobId = said[0].job_id

  const failed = await run('submit', '--code', bench.write('bad.cpp', { fails: true }), ...ONE, '--watch')
  expect(failed).toMatchObject({ code: 1, out: expect.stringContaining('tests_failed: the script says so') })

  const listed = await here('list', '--json')
  expect(JSON.parse(listed.out).items.map(({ title }: { title: string }) => title)).toEqual(['bad.cpp', 'good.cpp'])
  expect((await here('list', '--status', 'failed')).out.trimEnd().split('\n')).toHaveLength(2)
  expect(await here('show', id)).toMatchObject({ code: 0, out: expect.stringContaining('succeeded: 1 of 1 passed') })
  expect((await here('artifacts', id)).out.split('\n')).toEqual(['main.cpp', 'report.json', ''])
  expect((await run('artifacts', id, 'main.cpp')).out).toBe(codeFor({ lines: 3 }))
  expect((await here('artifacts', id, '--out', 'kept')).code).toBe(0)
  expect(JSON.parse(readFileSync(join(scratch.folder, 'kept/report.json'), 'utf8'))).toMatchObject({ job_id: id })
  expect(await here('artifacts', id, 'none.txt', '--json')).toMatchObject({ code: 1, err: expect.stringContaining('not_found') })

  const retried = lines((await here('retry', id, '--json')).out)
  expect(retried.at(-1)).toMatchObject({ status: 'succeeded' })
  expect(retried.at(-1).job_id).not.toBe(id)
  await expect.poll(() => bench.judge.worker.running).toBe(0)
  expect(await here('delete', id)).toMatchObject({ code: 0, out: `${id} is deleted.\n` })
  expect(await here('show', id, '--json')).toMatchObject({ code: 1, err: expect.stringContaining('"not_found"') })
  expect((await gateway.call('job.list', {})).items).toHaveLength(2)
})

test('Ctrl-C while it is shown cancels the job, and the exit code says so', MANY_PROCESSES, async () => {
  await using bench = await openBench()
  const code = bench.write('long.cpp', { forever: true })
  const shown = await bench.scratch.start(['job', 'submit', '--code', code, ...ONE, '--json', '--data', bench.scratch.data])
  await expect.poll(() => bench.judge.tester.running).toBe(1)
  shown.kill('SIGINT')
  expect(await shown.exited).toEqual({ code: 130, signal: null })
  expect(shown.err()).toContain('cancelling')
  expect(await bench.gateway.state(shown.ready.job_id)).toMatchObject({ status: 'cancelled' })
  const waiting = lines((await bench.here('submit', '--code', code, ...ONE, '--json', '--detach')).out)
  const id: JobId = waiting[0].job_id
  expect(await bench.here('cancel', id, '--json')).toMatchObject({ code: 0, out: expect.stringContaining('"cancelled"') })
  expect((await bench.here('watch', id)).code).toBe(130)
})

test('who watches goes on after a restart of the gateway, without a gap and without a repeat', async () => {
  await using bench = await openBench()
  const code = bench.write('steady.cpp', { lines: 150, pauseMs: 10 })
  const { out } = await bench.here('submit', '--code', code, ...ONE, '--json', '--detach')
  const watched = bench.run('watch', lines(out)[0].job_id, '--json')
  await expect.poll(() => bench.judge.tester.running).toBe(1)
  await bench.gateway.stop()
  await bench.gateway.start()
  const { code: exit, out: said, err } = await watched
  expect({ exit, err }).toMatchObject({ exit: 0 })
  const items = lines(said).flatMap(({ event, item }) => (event === 'agent_status' ? [item.seq] : []))
  expect(items).toHaveLength(3)
  expect(new Set(items).size).toBe(3)
})

test(
  'a folder of 20 MB of tests is zipped, goes up in chunks, and reaches the judge as it was',
  { timeout: 60_000 },
  async () => {
    await using bench = await openBench()
    const folder = join(bench.scratch.folder, 'cases')
    mkdirSync(join(folder, 'big'), { recursive: true })
    for (const name of ['1', '2']) {
      writeFileSync(join(folder, 'big', `${name}.in`), randomBytes(10 * 1024 * 1024))
      writeFileSync(join(folder, 'big', `${name}.out`), `${name}\n`)
    }
    let sizes: number[] = []
    const test = bench.judge.tester.test.bind(bench.judge.tester)
    bench.judge.tester.test = (request, ...rest) => {
      sizes = ['1.in', '2.in', '1.out'].map((name) => statSync(join(request.inputFolder, 'tests/big', name)).size)
      return test(request, ...rest)
    }
    const made = await bench.run('submit', '--code', bench.write('big.cpp', {}), '--tests', 'cases', '--json')
    expect(made).toMatchObject({ code: 0, err: '' })
    expect(sizes).toEqual([10 * 1024 * 1024, 10 * 1024 * 1024, 2])
    const { items } = await bench.gateway.call('job.get_tests', { job_id: lines(made.out)[0].job_id })
    expect(items).toMatchObject([
      { name: '1', group: 'big' },
      { name: '2', group: 'big' },
    ])
  },
)

let refusing: { readonly scratch: Scratch; readonly gateway: LocalGateway }
beforeAll(async () => {
  const scratch = new Scratch()
  refusing = { scratch, gateway: await LocalGateway.open(scratch.data) }
  writeFileSync(join(scratch.folder, 'a.cpp'), 'int main() {}')
  writeFileSync(join(scratch.folder, 'odd.xyz'), 'x')
  writeFileSync(join(scratch.folder, 'cut.zip'), 'PK\u0003\u0004 and no end')
  writeFileSync(join(scratch.folder, 'empty.zip'), Buffer.concat([Buffer.from('PK\u0005\u0006'), Buffer.alloc(18)]))
  writeFileSync(join(scratch.folder, 'empty.py'), ' \n')
  writeFileSync(join(scratch.folder, 'binary.py'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0]))
  writeFileSync(join(scratch.folder, 'latin1.py'), Buffer.from([0x23, 0xe9]))
  mkdirSync(join(scratch.folder, 'empty'))
})
afterAll(async () => {
  await refusing.gateway[Symbol.asyncDispose]()
  await refusing.scratch[Symbol.asyncDispose]()
})

test.each([
  [['submit'], 2, 'usage', '--code'],
  [['submit', '--judge-only', '--model', 'm'], 2, 'usage', '--judge-only needs --code'],
  [['submit', '--code', 'none.cpp'], 2, 'usage', '--code none.cpp'],
  [['submit', '--code', 'odd.xyz'], 2, 'usage', '--code odd.xyz: the name does not tell the language'],
  [['submit', '--code', 'a.cpp', '--time-ms', '0'], 2, 'usage', '--time-ms'],
  [['submit', '--code', 'a.cpp', '--tests', 'none.zip'], 2, 'usage', '--tests none.zip'],
  [['submit', '--code', 'a.cpp', '--tests', 'a.cpp'], 2, 'usage', '--tests a.cpp: not a zip'],
  [['submit', '--code', 'a.cpp', '--tests', 'cut.zip'], 2, 'invalid_argument', '"--tests cut.zip: is cut short'],
  [['submit', '--code', 'a.cpp'], 2, 'invalid_argument', '"--tests: is needed without a model'],
  [['submit', '--code', 'a.cpp', '--tests', 'empty.zip'], 2, 'invalid_argument', '"--tests empty.zip: has no file in it'],
  [['submit', '--code', 'a.cpp', '--tests', 'empty'], 2, 'usage', '--tests empty'],
  [['submit', '--code', 'a.cpp', '--sample', 'x'], 2, 'invalid_argument', '"--sample x: '],
  [['submit', '--code', 'empty.py'], 2, 'usage', '--code empty.py is empty'],
  [['submit', '--code', 'binary.py'], 2, 'usage', '--code binary.py is a binary file'],
  [['submit', '--code', 'latin1.py'], 2, 'usage', '--code latin1.py is not UTF-8'],
  [['submit', '--code', 'a.cpp', '--checker', 'odd.xyz'], 2, 'usage', '--checker odd.xyz'],
  [['submit', '--code', '-', '--statement', '-'], 2, 'usage', 'standard input'],
  [['submit', '--code', 'a.cpp', '--checker', 'no-such.cpp'], 2, 'usage', '--checker'],
  [['submit', '--model', 'm', '--statement', 'a.cpp'], 2, 'not_found', '"--model m: '],
  [['submit', '--model', 'm', '--statement', 'a.cpp'], 2, 'not_found', 'without a model --code is judged as it is'],
  [['show', 'job_x'], 2, 'usage', 'JOB'],
  [['list', '--limit', 'many'], 2, 'usage', '--limit'],
])('job %j fails in one line of JSON', async (args, exit, code, names) => {
  const { scratch } = refusing
  const { code: ended, err } = await runHere(['job', ...args, '--data', scratch.data, '--json'], { cwd: scratch.folder })
  expect(err.trim().split('\n')).toHaveLength(1)
  expect(JSON.parse(err)).toMatchObject({ error: { code } })
  expect(err).toContain(names)
  expect(ended).toBe(exit)
})

test('without a gateway there is a word about how to get one', async () => {
  await using scratch = new Scratch()
  const { code, err } = await runHere(['job', 'list', '--data', scratch.data, '--json'], { cwd: scratch.folder })
  expect(code).toBe(1)
  expect(JSON.parse(err)).toMatchObject({ error: { code: 'gateway_missing', hint: expect.stringContaining('parley up') } })
})

test('the socket of a gateway that was killed is no gateway', async () => {
  await using scratch = new Scratch()
  mkdirSync(scratch.data, { mode: 0o700 })
  const script = `require('node:net').createServer().listen('${scratch.data}/admin.sock', () => process.kill(process.pid, 'SIGKILL'))`
  spawnSync(process.execPath, ['--eval', script])
  expect(statSync(join(scratch.data, 'admin.sock')).isSocket()).toBe(true)
  writeFileSync(join(scratch.folder, 'a.cpp'), 'int main() {}')
  const { code, err } = await runHere(['job', 'submit', '--code', 'a.cpp', '--data', scratch.data], { cwd: scratch.folder })
  expect({ code, err }).toEqual({
    code: 1,
    err: expect.stringMatching(/^parley: no gateway runs on .*\(start one with parley up/),
  })
})

test('the words in the help are those of the protocol', () => {
  expect(JOB_WORDS).toEqual({
    languages: Language.options,
    statuses: JobStatus.options,
    compareModes: CompareMode.exclude(['checker', 'interactive']).options,
    timeMs: JOB_LIMITS.timeLimitMs.default,
    memoryMb: JOB_LIMITS.memoryLimitMb.default,
  })
})
