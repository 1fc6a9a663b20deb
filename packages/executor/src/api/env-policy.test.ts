import { expect, test } from 'vitest'
import { environmentOf } from './env-policy.ts'
import { folded, matchesGlob } from './name-glob.ts'
import { EnvPolicy, paramsOf, ProcessStartParams } from './params.ts'

const matches = (glob: string, name: string): boolean => matchesGlob(folded(glob), folded(name))

test.each([
  ['', '', true],
  ['', 'A', false],
  ['*', '', true],
  ['?', '', false],
  ['*KEY*', 'my_key_id', true],
  ['*KEY*', 'KE', false],
  ['*KEY', 'KEYKEY', true],
  ['a*b*c', 'aXbXbXc', true],
  ['a*b*c', 'aXcXb', false],
  ['h?me', 'HOME', true],
  ['h?me', 'HME', false],
  ['a.b', 'axb', false],
  ['a+[b]', 'A+[B]', true],
  ['*', 'a\nb', true],
  ['ä?', 'Äx', true],
  ['s', 'ſ', false],
  ['ß', 'SS', false],
  ['?', '😀', false],
])('the pattern %j and the name %j: %s', (glob, name, isMatch) => {
  expect(matches(glob, name)).toBe(isMatch)
})

test('short patterns say the same as regular expressions do', () => {
  const texts = (units: string, length: number): string[] =>
    length === 0 ? [''] : texts(units, length - 1).flatMap((text) => [text, ...units.split('').map((unit) => text + unit)])
  for (const glob of new Set(texts('aB*?', 5))) {
    const pattern = new RegExp(`^${glob.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'is')
    for (const name of ['', 'a', 'b', 'ab', 'ba', 'aab', 'abab', 'bbbb', 'abba', 'babab'])
      expect(`${glob} ${name} ${matches(glob, name)}`).toBe(`${glob} ${name} ${pattern.test(name)}`)
  }
})

test('a pattern that is made to take for ever does not', () => {
  const policy = EnvPolicy.parse({
    inherit: 'none',
    set: { ['a'.repeat(60)]: '1', [`${'a'.repeat(60)}x`]: '2' },
    includeOnly: [`${'*a'.repeat(20)}x`],
  })
  expect(environmentOf({}, {}, policy)).toEqual({ [`${'a'.repeat(60)}x`]: '2' })
})

const many = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`v${at}`, '']))

test.each([
  ['envPolicy.exclude', { envPolicy: { inherit: 'all', exclude: Array.from({ length: 257 }, () => 'a') } }],
  ['envPolicy.includeOnly', { envPolicy: { inherit: 'all', includeOnly: Array.from({ length: 257 }, () => 'a') } }],
  ['envPolicy.includeOnly', { envPolicy: { inherit: 'all', includeOnly: Array.from({ length: 17 }, () => 'a'.repeat(256)) } }],
  ['envPolicy.exclude.1', { envPolicy: { inherit: 'all', exclude: ['a', 'a'.repeat(257)] } }],
  ['envPolicy.set', { envPolicy: { inherit: 'all', set: many(129) } }],
  ['envPolicy.set', { envPolicy: { inherit: 'all', set: { ['a'.repeat(129)]: '' } } }],
  ['env', { env: many(4_097) }],
  ['env', { env: { ['a'.repeat(1_025)]: '' } }],
  ['env', { env: { a: 'a'.repeat(1024 * 1024 + 1) } }],
])('%s has a bound that is told with its name', (field, more) => {
  const start = { processId: 'p', argv: ['true'], cwd: 'file:///', env: {}, tty: false }
  expect(
    paramsOf(ProcessStartParams, { ...start, env: many(4_096), envPolicy: { inherit: 'all', set: many(128) } }),
  ).toBeDefined()
  expect(() => paramsOf(ProcessStartParams, { ...start, ...more })).toThrow(`invalid \`${field}\`: `)
})

test('the name of a variable that is no text is not said back in full', () => {
  const env = { ['a'.repeat(100_000)]: 1 }
  expect(() => paramsOf(ProcessStartParams, { processId: 'p', argv: ['true'], cwd: 'file:///', env, tty: false })).toThrow(
    /^invalid `env\.a{116}`: .{1,200}$/,
  )
})
