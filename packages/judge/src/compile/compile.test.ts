import { spawnSync } from 'node:child_process'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Bench, openBench } from '../fixture/open-bench.ts'
import { processesLeft } from '@parley/sandbox/testing'
import { SOLUTIONS, SUM_CASE } from '../fixture/solutions.ts'

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench[Symbol.asyncDispose]())

const programs = (): Promise<string[]> => readdir(join(bench.folder, 'cache', 'programs'))

test('a source is compiled once: the next time it comes from the cache, messages included', async () => {
  const code = '#include <cstdio>\n#warning "look here"\nint main(){puts("5");}'
  const first = await bench.judge({ language: 'cpp', code, files: SUM_CASE })
  const second = await bench.judge({ language: 'cpp', code, files: SUM_CASE })
  expect(first.report.compile).toMatchObject({
    cmd: ['g++', '-std=c++20', '-O2', '-pipe', 'main.cpp', '-o', 'main'],
    ok: true,
    exit_code: 0,
    cached: false,
  })
  expect(second.report.compile).toEqual({ ...first.report.compile, cached: true })
  expect(Buffer.from(second.report.compile?.stderr_b64 ?? '', 'base64').toString()).toContain('look here')
  expect(second.report.status).toBe('succeeded')
})

test('nobody can tell by the report, the lines or the time that somebody else sent the same source', async () => {
  const code = '#include <cstdio>\nint main(){puts("5"); /* mine */}'
  const sent = (owner: string) => bench.judge({ language: 'cpp', code, owner, files: SUM_CASE })
  const told = ({ report, lines, terminal }: Awaited<ReturnType<typeof sent>>) => ({
    cached: report.compile?.cached,
    isSaid: /compiled before/.test(lines.map(({ summary }) => summary).join('\n') + terminal),
  })
  const before = (await programs()).length
  const [ann, bob] = await Promise.all([sent('ann'), sent('bob')])
  for (const one of [ann, bob, await sent('eve')]) expect(told(one)).toEqual({ cached: false, isSaid: false })
  expect(told(await sent('ann'))).toEqual({ cached: true, isSaid: true })
  // A program and what is known about it, for each of the three.
  expect((await programs()).length - before).toBe(6)
})

test('the standard belongs to the program', async () => {
  const code = '#include <cstdio>\nint main(){printf("%ld\\n", __cplusplus);}'
  const answer = async (language: 'cpp' | 'cpp17' | 'cpp20' | 'cpp23'): Promise<string> => {
    const { report } = await bench.judge({ language, code, files: { '1.in': '' } })
    return Buffer.from(report.tests[0]?.stdout_b64 ?? '', 'base64')
      .toString()
      .trim()
  }
  const [plain, old, current, next] = await Promise.all([answer('cpp'), answer('cpp17'), answer('cpp20'), answer('cpp23')])
  expect([plain, old, current]).toEqual(['202002', '201703', '202002'])
  expect(Number(next)).toBeGreaterThan(202_002)
})

test('two jobs with the same source at the same time share one compilation', async () => {
  const before = (await programs()).length
  const code = '#include <cstdio>\n// shared\nint main(){puts("5");}'
  const both = await Promise.all([1, 2].map(() => bench.judge({ language: 'cpp', code, files: SUM_CASE })))
  expect(both.map(({ report }) => report.status)).toEqual(['succeeded', 'succeeded'])
  expect(both.map(({ report }) => report.compile?.time_ms)).toEqual([
    both[0]?.report.compile?.time_ms,
    both[0]?.report.compile?.time_ms,
  ])
  expect(await programs()).toHaveLength(before + 2)
})

test('one of two that share a compilation may leave', async () => {
  const controller = new AbortController()
  const code = '#include <iostream>\n#include <regex>\n// shared and left\nint main(){std::cout<<5;}'
  const leaving = bench.judge({ language: 'cpp', code, files: SUM_CASE, signal: controller.signal })
  const staying = bench.judge({ language: 'cpp', code, files: SUM_CASE })
  await expect.poll(() => processesLeft(process.pid, '').some((line) => line.includes('cc1plus'))).toBe(true)
  controller.abort()
  expect((await leaving).report.status).toBe('cancelled')
  expect((await staying).report.status).toBe('succeeded')
})

test('compile bombs end as CE that names the limit', async () => {
  const memory = '#include "/dev/zero"\nint main(){}'
  const file = 'char a[1u << 30] = {1};\nint main(){return a[5];}'
  const messages = '#include "main.cpp"\n#include "main.cpp"\n'
  const found = await Promise.all(
    [memory, file, messages].map(async (code) => {
      const { report } = await bench.judge({ language: 'cpp', code, files: SUM_CASE })
      return { status: report.status, code: report.error?.code, tests: report.tests, why: report.error?.message }
    }),
  )
  expect(found).toMatchObject([
    { status: 'failed', code: 'compile_error', tests: [], why: expect.stringContaining('more than 1024 MiB of memory') },
    { status: 'failed', code: 'compile_error', tests: [] },
    { status: 'failed', code: 'compile_error', tests: [], why: expect.stringContaining('more than 4 MiB of messages') },
  ])
  expect(await bench.verdicts({ language: 'cpp', code: SOLUTIONS.cpp.right, files: SUM_CASE })).toEqual(['AC'])
}, 120_000)

test('the header with everything is made once beside the first job, and used by the next', async () => {
  const source = (n: number): string => `#include <bits/stdc++.h>\nint main(){std::vector<int> v{1,${n}};std::cout<<v[1];}`
  const files = { '1.in': '', '1.out': '7' }
  const first = await bench.judge({ language: 'cpp17', code: source(7), files })
  const headers = join(bench.folder, 'cache', 'headers')
  const made = async (): Promise<string[]> => (await readdir(headers)).filter((name) => !name.startsWith('draft'))
  await expect.poll(made, { timeout: 60_000 }).toHaveLength(1)
  const second = await bench.judge({ language: 'cpp17', code: source(8), files: { '1.in': '', '1.out': '8' } })
  expect([first, second].map(({ report }) => report.status)).toEqual(['succeeded', 'succeeded'])
  expect(second.report.compile?.cmd).toEqual(first.report.compile?.cmd)
  const [key = ''] = await made()
  const file = join(bench.folder, 'main.cpp')
  await writeFile(file, source(9))
  const words = ['-H', '-Winvalid-pch', '-I', join(headers, key), '-std=c++17', '-O2', '-pipe', file, '-o', '/dev/null']
  // `!` marks a precompiled header that was taken.
  const [compiler = ''] = second.report.compile?.cmd ?? []
  expect(spawnSync(compiler, words, { encoding: 'utf8' }).stderr).toContain(`! ${join(headers, key)}/bits/stdc++.h.gch`)
}, 120_000)

test('a cache that was cut short or tampered with is made again', async () => {
  await using first = await openBench()
  const cacheFolder = join(first.folder, 'cache')
  const submission = { language: 'c', code: SOLUTIONS.c.right, files: SUM_CASE } as const
  await first.judge(submission)
  const folder = join(cacheFolder, 'programs')
  const [program = ''] = (await readdir(folder)).filter((name) => name.endsWith('.bin'))
  await writeFile(join(folder, program), 'cut')
  await writeFile(join(folder, 'draft-9'), 'left by a crash')
  expect((await first.judge(submission)).report).toMatchObject({ status: 'succeeded', compile: { cached: false } })
  await rm(join(folder, program.replace('.bin', '.json')))
  await using second = await openBench({ cacheFolder })
  expect(await readdir(folder)).toEqual([])
  expect((await second.judge(submission)).report).toMatchObject({ status: 'succeeded', compile: { cached: false } })
})

test('the cache stays within its bytes: the longest unused goes first', async () => {
  // A small program takes about 16 KB: there is room for two of them.
  await using small = await openBench({ cacheBytes: 40_000 })
  const judge = async (n: number): Promise<boolean | undefined> => {
    const { report } = await small.judge({
      language: 'c',
      code: `#include <stdio.h>\nint main(void){puts("${n}");}`,
      files: { '1.in': '' },
    })
    return report.compile?.cached
  }
  expect([await judge(1), await judge(2), await judge(1), await judge(3), await judge(1), await judge(2)]).toEqual([
    false,
    false,
    true,
    false,
    true,
    false,
  ])
})
