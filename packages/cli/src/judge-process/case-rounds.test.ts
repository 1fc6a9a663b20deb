import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { CaseItem, caseRound } from '@parley/protocol'
import { expect, test } from 'vitest'
import { LocalGateway } from '../fixture/local-gateway.ts'
import { Scratch } from '../fixture/parley.ts'

const SLOW_MS = 300_000
const STEP_MS = 70_000
/** Its first case is done at once; the second takes long enough to lose a judge over it. */
const CODE = 'import time\nnumber = int(input())\nif number > 1: time.sleep(5)\nprint(number)\n'

/** So that a failure says what never came. */
function within<T>(what: string, coming: Promise<T>): Promise<T> {
  const late = new Error(`in vain was waited for this: ${what}`)
  return Promise.race([coming, wait(STEP_MS, undefined, { ref: false }).then(() => Promise.reject(late))])
}

test.for(['dies', 'gives the job back'] as const)(
  'when a judge %s between two cases, whoever follows can tell that they begin again',
  { timeout: SLOW_MS },
  async (how) => {
    await using scratch = new Scratch()
    await using gateway = await LocalGateway.open(scratch.data, { leaseMs: 6_000 })
    const startJudge = (name: string) =>
      scratch.start(
        ['judge', '--url', gateway.ws, '--name', name, '--slots', '1', '--data', join(scratch.folder, name), '--json'],
        {
          env: { PARLEY_JUDGE_TOKEN: gateway.token },
        },
      )
    const tests = join(scratch.folder, 'tests')
    mkdirSync(tests)
    for (const number of ['1', '2'])
      for (const end of ['in', 'out']) writeFileSync(join(tests, `${number}.${end}`), `${number}\n`)
    writeFileSync(join(scratch.folder, 'wait.py'), CODE)
    const first = await startJudge('first')
    const submit = ['job', 'submit', '--judge-only', '--code', 'wait.py', '--tests', 'tests', '--time-ms', '60000']
    const shown = await scratch.start([...submit, '--data', scratch.data, '--json'])
    const id = shown.ready.job_id
    const lines = async (): Promise<readonly CaseItem[]> => {
      const { chunk_b64: chunk } = await gateway.call('job.read_log', { job_id: id, stream: 'cases', offset: 0 })
      const text = Buffer.from(chunk, 'base64').toString('utf8')
      return text.split('\n').flatMap((line) => (line === '' ? [] : [CaseItem.parse(JSON.parse(line))]))
    }
    await expect.poll(async () => (await lines()).length).toBe(1)
    if (how === 'dies') first.kill('SIGKILL')
    else {
      first.kill('SIGTERM')
      await expect.poll(() => first.err()).toContain('once more gives it back')
      // Two within a few milliseconds would be one that was repeated on its way.
      await wait(50)
      first.kill('SIGTERM')
    }
    await within('the first judge ends', first.exited)
    await within('the second judge is ready', startJudge('second'))
    expect(await within('the job ends', gateway.ended(id))).toMatchObject({
      status: 'succeeded',
      summary: { total: 2, passed: 2 },
    })
    // Else it would look for a gateway that is gone, when all of this is cleared away.
    await within('the shell shows the end', shown.exited)

    const told = await lines()
    expect(told.map(({ name }) => name)).toEqual(['1', '1', '2'])
    const [before, ...after] = told.map(caseRound)
    expect(after).toEqual([after[0], after[0]])
    expect(before).not.toBe(after[0])
    expect(new Set(told.map(({ seq }) => seq)).size).toBe(3)
    // The number alone would not tell: a claim that was given back leaves it to the next.
    expect(new Set(told.map(({ claim }) => claim)).size).toBe(how === 'dies' ? 2 : 1)
  },
)
