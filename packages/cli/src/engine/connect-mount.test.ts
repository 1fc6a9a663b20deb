import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { MountServer } from '@parley/agent'
import { expect, test } from 'vitest'
import { gone } from '../fixture/gone.ts'
import { MANY_PROCESSES, Scratch } from '../fixture/parley.ts'
import { openMounts } from './connect-mount.ts'

const SERVER = fileURLToPath(new URL('../fixture/sdk-stdio-server.ts', import.meta.url))
const stdio = (environment?: string): MountServer => ({
  kind: 'stdio',
  command: process.execPath,
  args: [SERVER],
  env: { GIVEN: 'yes' },
  ...(environment === undefined ? {} : { environment }),
})

test(
  'a mounted server runs in the environment that it names, at a URL or started for it, and nowhere else',
  MANY_PROCESSES,
  async () => {
    await using scratch = new Scratch()
    const executor = await scratch.start(['exec-server', '--json'])
    const { command, env } = scratch.launch(['exec-server', '--listen', 'stdio'])
    const table = [
      `[[environments]]\nid = "far"\nurl = "${executor.ready.url}"\n`,
      `[[environments]]\nid = "box"\nprogram = ${JSON.stringify(command[0])}\nargs = ${JSON.stringify(command.slice(1))}\n`,
      `env = { ${Object.entries(env)
        .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
        .join(', ')} }\n`,
    ]
    const file = join(scratch.folder, 'environments.toml')
    writeFileSync(file, table.join(''))
    const complaints: string[] = []
    const mounts = openMounts({
      complain: (text) => void complaints.push(text),
      clientName: 'test',
      environmentsFile: file,
    })
    const signal = new AbortController().signal
    const connect = (environment?: string) => mounts.connect({ name: 'm', required: true, server: stdio(environment) }, signal)
    const pids: number[] = []
    for (const environment of ['far', 'box', undefined]) {
      const client = await connect(environment)
      const said = async (name: string): Promise<string> =>
        JSON.parse(JSON.stringify(await client.callTool(name, {}))).content[0].text
      const seen = JSON.parse(await said('env'))
      // The usual variables are those of the place; here a server gets what it was given and nothing else.
      expect({ environment, GIVEN: seen.GIVEN, HOME: seen.HOME }).toEqual({
        environment,
        GIVEN: 'yes',
        HOME: environment === undefined ? undefined : scratch.folder,
      })
      pids.push(Number(await said('pid')))
    }
    await expect(connect('nowhere')).rejects.toThrow('there is no environment "nowhere"')
    await mounts.close()
    for (const pid of pids) await gone(pid)
  },
)
