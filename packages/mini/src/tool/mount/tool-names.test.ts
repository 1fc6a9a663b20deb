import { expect, test } from 'vitest'
import { seeded } from '../../fixture/random.ts'
import { OWN_TOOLS } from '../own-tool.ts'
import { type Origin, toolNames } from './tool-names.ts'

const NAME = /^[a-zA-Z0-9_-]{1,64}$/

test('a name is the mount, a line and the tool; dots become lines', () => {
  const origins = [
    { mount: 'realmoi-status', tool: 'status.update' },
    { mount: 'git', tool: 'log' },
  ]
  expect(toolNames(origins, OWN_TOOLS)).toEqual(['realmoi-status_status_update', 'git_log'])
})

test('tools of a plain mount keep their names, unless another has them', () => {
  const origins = [
    { mount: 'agent', tool: 'files_echo', plain: true },
    { mount: 'agent', tool: 'shell', plain: true },
    { mount: 'git', tool: 'log' },
  ]
  expect(toolNames(origins, OWN_TOOLS)).toEqual(['files_echo', expect.stringMatching(/^shell_[0-9a-f]{8}$/), 'git_log'])
})

test('names that fall together are told apart by what they really are, whoever comes first', () => {
  const origins = [
    { mount: 'm', tool: 'a.b' },
    { mount: 'm', tool: 'a_b' },
    { mount: 'm', tool: 'a/b' },
  ]
  const names = toolNames(origins, OWN_TOOLS)
  expect(new Set(names).size).toBe(3)
  expect(names.every((name) => /^m_a_b_[0-9a-f]{8}$/.test(name))).toBe(true)
  expect(toolNames(origins.toReversed(), OWN_TOOLS).toReversed()).toEqual(names)
})

test('no mounted tool takes the name of an own one', () => {
  const [name] = toolNames([{ mount: 'apply', tool: 'patch' }], OWN_TOOLS)
  expect(name).toMatch(/^apply_patch_[0-9a-f]{8}$/)
})

test('a name that a server makes up to look like a hashed one changes nothing about the hashed one', () => {
  const long = { mount: 'm', tool: 'x'.repeat(100) }
  const [hashed = ''] = toolNames([long], [])
  const spoof = { mount: 'm', tool: hashed.slice(2) }
  const names = toolNames([spoof, long], [])
  expect(new Set(names).size).toBe(2)
  expect(names.every((name) => NAME.test(name))).toBe(true)
})

test('any names: each gets one that models take, no two the same, and the order does not matter, 500 times', () => {
  for (let seed = 1; seed <= 500; seed++) {
    const random = seeded(seed)
    const word = (): string =>
      Array.from({ length: 1 + random.below(random.pick([3, 80])) }, () =>
        random.pick(['a', 'A', '.', '_', '-', '/', 'ü', '漢', ' ']),
      ).join('')
    const known = new Map<string, Origin>()
    for (let count = random.below(40); count > 0; count--) {
      const origin = {
        mount: random.pick(['m', 'm-m', 'apply', 'list', 'x'.repeat(60)]),
        tool: random.pick([word(), 'patch', 'files', 'a.b', 'a_b']),
      }
      known.set(JSON.stringify(origin), origin)
    }
    const origins = [...known.values()]
    const names = toolNames(origins, OWN_TOOLS)
    const distinct = new Set([...names, ...OWN_TOOLS]).size
    expect({ seed, distinct, fit: names.every((name) => NAME.test(name)) }).toEqual({
      seed,
      distinct: origins.length + OWN_TOOLS.length,
      fit: true,
    })
    expect(toolNames(origins.toReversed(), OWN_TOOLS).toReversed()).toEqual(names)
  }
})
