import { execFile } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newContract } from './new-contract.ts'

const MODULES = fileURLToPath(new URL('../../../../node_modules', import.meta.url))
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'new-contract-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('a new contract is two files that compile, and its test fails until they are filled in', async () => {
  const out = join(folder, 'made')
  const [schema, file] = await newContract('thread/fork', out)
  expect(await readdir(out)).toEqual(['thread-fork.contract.test.ts', 'thread-fork.schema.json'])
  expect(JSON.parse(await readFile(schema, 'utf8'))).toMatchObject({ title: 'thread/fork', minVersion: '0.42.0' })
  expect(await readFile(file, 'utf8')).toContain("describe('MCP Contract: thread/fork'")
  await symlink(MODULES, join(folder, 'node_modules'))
  await writeFile(join(out, 'vitest.config.ts'), 'export default {}\n')
  const options = { module: 'nodenext', strict: true, noEmit: true, resolveJsonModule: true, skipLibCheck: true, types: [] }
  await writeFile(join(out, 'package.json'), '{"type":"module"}')
  await writeFile(join(out, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: [file] }))
  const run = (program: string, args: readonly string[]) =>
    promisify(execFile)(process.execPath, [join(MODULES, program), ...args], { cwd: out, env: { PATH: process.env['PATH'] } })
  await run('typescript/bin/tsc', ['-p', 'tsconfig.json'])
  const report = join(folder, 'report.json')
  const args = ['run', '--root', out, '--reporter=json', `--outputFile=${report}`]
  await expect(run('vitest/vitest.mjs', args)).rejects.toMatchObject({ code: 1 })
  expect(JSON.parse(await readFile(report, 'utf8'))).toMatchObject({ numTotalTests: 5, numFailedTests: 5 })
})

test.each([['../x'], ['a b'], [''], ['/x'], ['x/'], ['1x'], ['x.y'], ['x'.repeat(100)]])(
  '%j is no name of a method',
  async (name) => {
    await expect(newContract(name, folder)).rejects.toMatchObject({ code: 'bad_method_name' })
  },
)

test('a contract that exists is never written over', async () => {
  await expect(newContract('newConversation', folder)).rejects.toMatchObject({ code: 'contract_exists' })
  await expect(newContract('codex/event', folder)).rejects.toMatchObject({ code: 'contract_exists' })
  const out = join(folder, 'twice')
  await newContract('one', out)
  await writeFile(join(out, 'one.schema.json'), 'mine')
  await expect(newContract('one', out)).rejects.toMatchObject({ code: 'contract_exists' })
  expect(await readFile(join(out, 'one.schema.json'), 'utf8')).toBe('mine')
  await rm(join(out, 'one.schema.json'))
  await expect(newContract('one', out)).rejects.toMatchObject({ code: 'contract_exists' })
  expect(await readdir(out)).toEqual(['one.contract.test.ts'])
})
