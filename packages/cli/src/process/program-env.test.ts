import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Scratch, childrenOf } from '../fixture/parley.ts'
import { programEnv } from './program-env.ts'

const SLOW_MS = 180_000
const SECRETS = {
  OPENAI_API_KEY: 'sk-of-the-environment',
  PARLEY_MODEL_API_KEY: 'sk-of-the-model',
  PARLEY_SECRET: 'secret-of-the-instance-with-32-bytes',
  PARLEY_ADMIN_PASSWORD: 'password-of-the-admin',
  PARLEY_JUDGE_TOKEN: 'token-of-the-judges-with-32-characters',
  AWS_SECRET_ACCESS_KEY: 'key-of-a-cloud',
  PARLEY_MODEL_BASE_URL: 'http://127.0.0.1:9/v1',
}
/** Nothing where that is for root alone, as of a process that keeps others from looking into it. */
const environOf = (pid: number): string[] => {
  try {
    return [readFileSync(`/proc/${pid}/environ`, 'utf8').replaceAll('\0', '\n')]
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EACCES') return []
    throw error
  }
}

test.runIf(process.platform === 'linux')(
  'the programs of up get what they need of the environment, and no key',
  { timeout: SLOW_MS },
  async () => {
    await using scratch = new Scratch()
    const up = await scratch.start(['up', '--port', '0', '--data', scratch.data, '--json'], { env: SECRETS })
    await expect.poll(() => up.err(), { timeout: SLOW_MS }).toMatch(/The judge \S+ is ready/)
    const tree = (pid: number): number[] => childrenOf(pid).flatMap((child) => [child, ...tree(child)])
    const environs = tree(up.pid).flatMap(environOf)
    expect(environs.length).toBeGreaterThan(1)
    for (const value of Object.values(SECRETS)) expect(environs.join('\n')).not.toContain(value)
    expect(environs[0]).toMatch(/^PATH=/m)
  },
)

test('the way to PostgreSQL and out of a network is for the gateway alone', () => {
  const env = { PATH: '/bin', PGPASSWORD: 'p', https_proxy: 'http://u:p@proxy', GITHUB_TOKEN: 't', NODE_OPTIONS: '--no-warnings' }
  expect(programEnv('judge', env)).toEqual({ PATH: '/bin', NODE_OPTIONS: '--no-warnings' })
  expect(programEnv('gateway', env)).toEqual({
    PATH: '/bin',
    PGPASSWORD: 'p',
    https_proxy: 'http://u:p@proxy',
    NODE_OPTIONS: '--no-warnings',
  })
})
