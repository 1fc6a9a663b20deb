import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { expect, test } from 'vitest'

const STARTS = `
  import { startPostgres } from ${JSON.stringify(new URL('start-postgres.ts', import.meta.url))}
  const server = await startPostgres()
  const { Client } = await import(${JSON.stringify(import.meta.resolve('pg'))})
  const client = new Client({ connectionString: server.url })
  await client.connect()
  const { rows } = await client.query('SHOW data_directory')
  console.log(JSON.stringify({ url: server.url, data: rows[0].data_directory }))
  await new Promise(() => undefined)`

test('the server and its folder go when the process that started it is killed', async () => {
  const starter = spawn(process.execPath, ['--input-type=module', '-e', STARTS], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface({ input: starter.stdout })[Symbol.asyncIterator]()
  const { url, data }: { url: string; data: string } = JSON.parse((await lines.next()).value ?? '{}')
  expect(await answers(url)).toBe(true)
  starter.kill('SIGKILL')
  while ((await answers(url)) || existsSync(data)) await sleep(20)
  expect(existsSync(data)).toBe(false)
})

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  const connected = await client.connect().then(
    () => true,
    () => false,
  )
  await client.end().catch(() => undefined)
  return connected
}
