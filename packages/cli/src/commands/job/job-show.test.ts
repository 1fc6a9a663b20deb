import { expect, test } from 'vitest'
import { LocalGateway } from '../../fixture/local-gateway.ts'
import { Scratch } from '../../fixture/parley.ts'
import { commandsHere } from '../../fixture/run-here.ts'
import { codeFor } from '../../fixture/scripted-tester.ts'
import { openTestWorker } from '../../fixture/test-worker.ts'

test('a job that runs is shown with the verdicts that it has so far', async () => {
  await using scratch = new Scratch()
  await using gateway = await LocalGateway.open(scratch.data)
  await using _worker = await openTestWorker(gateway, scratch.folder)
  const { run, json } = commandsHere(scratch)
  const cases = [
    { name: 'one', verdict: 'AC' },
    { name: 'two', verdict: 'WA', message: 'expected 2' },
  ] as const
  const id = await gateway.submit({ current_code: codeFor({ cases, forever: true }) })
  await expect.poll(async () => (await gateway.log(id, 'cases')).trim().split('\n')).toHaveLength(2)
  const shown = await run(['job', 'show', id, '--data', scratch.data])
  expect({ code: shown.code, err: shown.err }).toEqual({ code: 0, err: '' })
  expect(shown.out).toMatch(/ one +AC [^\n]*\n +two +WA [^\n]*expected 2\n\nrunning_test: 2 of 2 cases done\n$/)
  expect(await json(['job', 'show', id, '--data', scratch.data])).toMatchObject({ report: null, cases })
})
