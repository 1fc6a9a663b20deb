import { expect, test } from 'vitest'
import { readEnvironments } from './environments.ts'

test('environments are read by their ids, as URLs or as programs, and what is not known is passed over', () => {
  const text = `include_local = true
default = "box"
[[environments]]
id = "far"
url = "wss://host:7402"
connect_timeout_sec = 5
[[environments]]
id = "box"
program = "parley"
args = ["exec-server", "--listen", "stdio"]
env = { A = "b" }
`
  expect([...readEnvironments(text)]).toEqual([
    ['far', { id: 'far', url: 'wss://host:7402' }],
    ['box', { id: 'box', program: 'parley', args: ['exec-server', '--listen', 'stdio'], env: { A: 'b' } }],
  ])
  expect(readEnvironments('').size).toBe(0)
})

test.each([['[[environments]]\nid = "x"\n'], ['[[environments]]\nid = "x"\nurl = "http://host"\n'], ['environments = 3\n']])(
  '%j is refused with the name of the file',
  (text) => {
    expect(() => readEnvironments(text)).toThrow(/^environments.toml: environments/)
  },
)
