import { openStore } from '@parley/store'
import { type TestEngine, startEngine } from '@parley/store/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { JobSocket, until } from '../../fixture/job-socket.ts'
import { PlayedJudge, addJob, addUser, statusLine } from '../../fixture/test-job.ts'
import { callTool, openTestGateway, optionsOf } from '../../fixture/test-gateway.ts'
import { openGateway } from '../../gateway.ts'

let postgres: TestEngine
beforeAll(async () => {
  postgres = await startEngine('postgres')
})
afterAll(() => postgres.stop())

test('on PostgreSQL a job is followed at one gateway while its judge writes at another: nothing is lost, the end comes last', async () => {
  const url = await postgres.migratedUrl()
  await using gw = await openTestGateway({}, url)
  const elsewhere = await openStore({ url })
  const other = await openGateway(optionsOf(elsewhere, []))
  try {
    const ada = await addUser(gw, 'ada')
    for (let round = 0; round < 5; round += 1) {
      const id = await addJob(gw.store, ada.id)
      const judge = await PlayedJudge.take(gw.store, id)
      const socket = await JobSocket.open(other.ws, ada.token)
      await socket.subscribe(id, { streams: ['agent_status', 'terminal', 'state'] })
      const waits = callTool(other.url, ada.token, 'job.wait', { job_id: id })
      for (let n = 0; n < 40; n += 1) {
        await judge.append('agent_status', statusLine(id, n))
        await judge.append('terminal', `${n}\n`)
      }
      await judge.end()
      await until(() => socket.statuses().includes('succeeded'))
      expect(socket.told().at(-1)).toMatchObject({ method: 'job_state', params: { state: { status: 'succeeded' } } })
      expect(socket.told('agent_status').map(({ params }) => (params['item'] as { seq: string }).seq)).toEqual(
        Array.from({ length: 40 }, (_, n) => `s-${n}`),
      )
      expect(socket.terminal()).toBe(Array.from({ length: 40 }, (_, n) => `${n}\n`).join(''))
      expect((await waits).structuredContent).toMatchObject({ status: 'succeeded', ended: true })
      socket.close()
    }
  } finally {
    await other.close(200)
    await elsewhere.close()
  }
})
