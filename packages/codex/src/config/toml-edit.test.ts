import { describe, expect, test } from 'vitest'
import { readServers, withServer, withoutServer } from './mcp-servers.ts'
import { TomlEditError, addTable, parseToml, removeFrom, replaceValue, setTopLevel } from './toml-edit.ts'

const FILE = `# my own words
model = "gpt-5"   # keep this

[mcp_servers.a]   # the first
command = "x"
args = ["1",
  "2", # two
]
[mcp_servers.a.env]
FOO = 'bar'

# about b
[mcp_servers.b]
url = "http://127.0.0.1/mcp"
unknown_key = { a = 1 }

[profiles.fast]
model = "m"
`

describe('a configuration file is changed without touching the rest', () => {
  test('a server is added at the end, with strings that need quoting', () => {
    const env = { K: 'line\nbreak "quoted" \\ \u007F ü' }
    const after = withServer(FILE, 'my.server', { command: 'q', args: ['--x', ''], env })
    expect(after.startsWith(FILE)).toBe(true)
    expect(after.slice(FILE.length)).toContain('[mcp_servers."my.server"]\ncommand = "q"\nargs = ["--x", ""]\n')
    const added = readServers(after).servers.find(({ name }) => name === 'my.server')
    expect(added?.entry).toEqual({ command: 'q', args: ['--x', ''], env })
  })

  test('a server is taken out with its tables; comments beside it stay', () => {
    const after = withoutServer(FILE, 'a')
    expect(after).toBe(`${FILE.slice(0, FILE.indexOf('[mcp_servers.a]'))}${FILE.slice(FILE.indexOf('# about b'))}`)
    expect(withoutServer(after, 'b')).toContain('# about b\n\n[profiles.fast]')
    expect(withoutServer(FILE, 'nobody')).toBe(FILE)
  })

  test('a server that is replaced goes to the end, once', () => {
    const after = withServer(FILE, 'a', { command: 'new' })
    expect(readServers(after).servers.map(({ name, entry }) => [name, entry.command ?? entry.url])).toEqual([
      ['a', 'new'],
      ['b', 'http://127.0.0.1/mcp'],
    ])
    expect(after.match(/\[mcp_servers\.a\]/g)).toHaveLength(1)
  })

  test('keys of the top level are set, changed and taken out in their place', () => {
    expect(setTopLevel(FILE, 'model', 'other')).toBe(FILE.replace('"gpt-5"', '"other"'))
    expect(setTopLevel(FILE, 'model_reasoning_effort', 'high')).toBe(
      FILE.replace('# keep this\n', '# keep this\nmodel_reasoning_effort = "high"\n'),
    )
    expect(setTopLevel(FILE, 'model', null)).toBe(FILE.replace('model = "gpt-5"   # keep this\n', ''))
    expect(setTopLevel('[a]\nb = 1\n', 'model', 'x')).toBe('model = "x"\n\n[a]\nb = 1\n')
    expect(setTopLevel('', 'model', 'x')).toBe('model = "x"\n')
    expect(setTopLevel('a = 1', 'model', 'x')).toBe('a = 1\nmodel = "x"\n')
  })

  test('line ends stay what they are', () => {
    const windows = FILE.replaceAll('\n', '\r\n')
    for (const after of [
      addTable(windows, ['x', 'y'], { z: 1 }),
      removeFrom(windows, ['mcp_servers', 'a']),
      setTopLevel(windows, 'k', 1),
    ])
      expect(after.replaceAll('\r\n', '')).not.toContain('\n')
  })

  test.for([
    ['one line for all servers', 'mcp_servers = { a = { command = "x" }, b = { command = "y" } }\n'],
    ['a server in dotted keys inside a table', '[x]\ny = 1\n[mcp_servers]\na = { command = "x" }\nb.command = "y"\n'],
  ] as const)('%s is either changed rightly or refused, never damaged', ([, text]) => {
    for (const edit of [() => withoutServer(text, 'a'), () => withServer(text, 'c', { command: 'z' })]) {
      try {
        const after = readServers(edit()).servers
        expect(after.find(({ name }) => name === 'b')?.entry.command).toBe('y')
      } catch (error) {
        expect(error).toBeInstanceOf(TomlEditError)
      }
    }
  })

  test('what is no TOML is refused with its line', () => {
    expect(() => withServer('a = 1\nb = [\n', 'x', { command: 'y' })).toThrow(/line [23]/)
    expect(() => replaceValue(FILE, ['model_providers', 'x'], 'y')).toThrow('is not there')
    expect(() => parseToml('a = 1\na = 2\n')).toThrow(TomlEditError)
  })
})

describe('servers of a file', () => {
  test('one that is not usable is named with its fault, the others are read', () => {
    const text = `${FILE}[mcp_servers.c]\nargs = ["x"]\n[mcp_servers.d]\ncommand = 5\n[mcp_servers.e]\nurl = "http://x"\nbearer_token = "secret-word"\n`
    const { servers, problems } = readServers(text)
    expect(servers.map(({ name }) => name)).toEqual(['a', 'b'])
    expect(problems).toHaveLength(3)
    expect(problems.join('\n')).toMatch(
      /mcp_servers\.c needs either command or url[^]*mcp_servers\.d\.command is wrong[^]*mcp_servers\.e has a literal/,
    )
    expect(problems.join('\n')).not.toContain('secret-word')
  })
})
