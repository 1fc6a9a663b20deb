import { messageOf } from '@parley/protocol'
import { expect, test } from 'vitest'
import { AgentBench, ON_HOST, stdio } from '../fixture/agent-bench.ts'
import { MANY_PROCESSES } from '../fixture/parley.ts'
import { WATCHED } from '../fixture/watched-server.ts'

const URI = 'test://files/doc'
const reading = (decision: string): string =>
  `[[rule]]\nname = "doc"\nresource = "test://doc"\ndecision = "${decision}"\nreason = "not to be read"\n`
const WAIT = { timeout: 60_000 }

test(
  'what an agent subscribed to is watched for as long as its policies allow, in the next host too',
  MANY_PROCESSES,
  async () => {
    await using bench = await AgentBench.open()
    const first = await bench.host('one')
    const agent_id = await bench.agent('mine', { files: stdio({ ...ON_HOST, args: ['--input-type=module', '-e', WATCHED] }) })
    const client = await bench.as(agent_id)
    const index = (): Promise<string> =>
      client.readResource('compositor://subscriptions').then(
        ({ contents }) => JSON.stringify(contents).replaceAll('\\', ''),
        (error: unknown) => messageOf(error),
      )
    const activate = async (text: string): Promise<void> => {
      const { version, review } = await bench.gateway.call('policy.set', { agent_id, text })
      await bench.gateway.call('policy.activate', { agent_id, version, digest: review.digest })
    }
    await expect
      .poll(() => client.callToolRaw('resources_subscribe', { uri: URI }).then(JSON.stringify, messageOf), WAIT)
      .toContain('active')

    await activate(reading('deny_continue'))
    await expect.poll(index).toMatch(/"failed","last_error":"denied by policy: not to be read"/)
    await activate(reading('allow'))
    await expect.poll(index).toContain('"active","last_error":null')
    // What a person would be asked about stays as it was decided, and the next host takes it up; what is denied meanwhile it does not.
    await activate(reading('ask'))
    const checked = () => client.callToolRaw('policy_check', { mount: 'files', resource: 'test://doc' }).then(JSON.stringify)
    await expect.poll(checked).toContain('"ask"')
    expect(await index()).toContain('"active","last_error":null')
    first.kill('SIGTERM')
    await first.exited
    const second = await bench.host('two')
    await expect.poll(index, WAIT).toContain('"active","last_error":null')
    second.kill('SIGTERM')
    await second.exited
    await activate(reading('deny_continue'))
    await bench.host('three')
    await expect.poll(index, WAIT).toMatch(/"failed","last_error":"denied by policy: not to be read"/)
  },
)
