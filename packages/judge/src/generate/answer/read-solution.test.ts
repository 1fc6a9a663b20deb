import { describe, expect, test } from 'vitest'
import { readSolution } from './read-solution.ts'

const CODE = '#include <iostream>\nint main(){std::cout<<"a\\n";}\n'
const DOC = { main: CODE, solution_idea: 'print', assumptions: [] }
const JSON_TEXT = JSON.stringify(DOC, null, 2)
const CODE_IN_JSON = JSON.stringify(CODE)

const read = (text: string, language: 'cpp' | 'python' = 'cpp') => readSolution(text, language)

describe('documents', () => {
  test.each<[string, string, readonly string[]]>([
    ['as it should be', JSON_TEXT, []],
    ['with space around it', `\n\n ${JSON_TEXT}\n`, []],
    ['in a fence', `\`\`\`json\n${JSON_TEXT}\n\`\`\``, ['a fence around the document']],
    ['in a fence without a word', `\`\`\`\n${JSON_TEXT}\n\`\`\``, ['a fence around the document']],
    [
      'in a fence of tildes with Windows line ends',
      `~~~json\r\n${JSON_TEXT.replaceAll('\n', '\r\n')}\r\n~~~`,
      ['a fence around the document'],
    ],
    ['in a fence that never ends', `Here:\n\`\`\`json\n${JSON_TEXT}`, ['a fence around the document']],
    ['with prose around it', `Here is what I found {really}:\n${JSON_TEXT}\nI hope {this} helps.`, ['words around the document']],
    ['under the older name', JSON.stringify({ main_cpp: CODE }), ['`main_cpp` for `main`']],
    ['with a trailing comma', `{"main": ${CODE_IN_JSON}, "assumptions": ["x",],}`, ['a comma before the end']],
    ['with single quotes', `{'main': ${CODE_IN_JSON}, 'solution_idea': 'so easy'}`, ['other quotes than double ones']],
    ['with comments', `{ // the answer\n "main": ${CODE_IN_JSON} /* done */ }`, ['comments']],
    [
      'with line ends in strings',
      `{"main": "${CODE.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"}`,
      ['line ends inside a string'],
    ],
    ['with a missing comma', `{"main": ${CODE_IN_JSON}\n"solution_idea": "x"}`, ['a missing comma']],
    ['with bare names', `{main: ${CODE_IN_JSON}, complexity: "O(1)"}`, ['names without quotes']],
    ['with words of Python', `{"main": ${CODE_IN_JSON}, "complexity": None}`, ['words of another language']],
    ['cut behind the program', `{"main": ${CODE_IN_JSON}, "solution_idea": "we go thr`, ['an end that came too early']],
    ['cut in a list', `{"main": ${CODE_IN_JSON}, "seed_code_wrong_lines": [1, 2`, ['an end that came too early']],
    ['with a fence around the program', JSON.stringify({ main: `\`\`\`cpp\n${CODE}\`\`\`` }), ['a fence around the program']],
  ])('%s', (_what, text, tolerated) => {
    expect(read(text)).toMatchObject({ kind: 'read', code: CODE, tolerated })
  })

  test('several faults at once are all named', () => {
    const text = `Sure!\n\`\`\`json\n{ 'main_cpp': ${CODE_IN_JSON}, // done\n}\n\`\`\``
    expect(read(text)).toMatchObject({
      kind: 'read',
      code: CODE,
      tolerated: [
        'a fence around the document',
        'other quotes than double ones',
        'comments',
        'a comma before the end',
        '`main_cpp` for `main`',
      ],
    })
  })

  test('fields beside the program are kept as they came', () => {
    expect(read(JSON_TEXT)).toMatchObject({ document: { solution_idea: 'print', assumptions: [] } })
  })

  test('a document is preferred to other blocks, and escapes stay what they are', () => {
    const text = `\`\`\`cpp\nint main(){return 1;} // a first try that is longer than the real answer by far, really\n\`\`\`\n${JSON_TEXT}`
    expect(read(text)).toMatchObject({ kind: 'read', code: CODE })
    expect(read('{"main": "int main(){puts(\\"\\u00e9\\\\n\\");}",}')).toMatchObject({ code: 'int main(){puts("é\\n");}' })
  })
})

describe('code without a document', () => {
  test.each<[string, string, 'cpp' | 'python', string]>([
    [
      'the block of the language, though another is larger',
      `\`\`\`text\n${'x'.repeat(500)}\n\`\`\`\n\`\`\`cpp\nint main(){}\n\`\`\``,
      'cpp',
      'int main(){}\n',
    ],
    [
      'the largest of several',
      '```c++\nint f();\n```\nand all:\n```c++\nint f(){}\nint main(){f();}\n```',
      'cpp',
      'int f(){}\nint main(){f();}\n',
    ],
    ['a block without a word', 'So:\n```\nprint(1)\n```\n', 'python', 'print(1)\n'],
    ['a block that never ends', 'So:\n```py\nprint(1)', 'python', 'print(1)'],
    ['bare code', CODE, 'cpp', CODE],
    ['bare Python', 'import sys\nprint(sum(map(int, sys.stdin)))', 'python', 'import sys\nprint(sum(map(int, sys.stdin)))\n'],
    ['an indented list around a fence', '1. First:\n   ```cpp\nint main(){}\n   ```', 'cpp', 'int main(){}\n'],
  ])('%s', (_what, text, language, code) => {
    const found = read(text, language)
    expect(found).toMatchObject({ kind: 'read', code })
    expect(found.kind === 'read' ? found.tolerated.join() : '').toMatch(/code without a document/)
  })
})

describe('what is not taken', () => {
  test.each<[string, string]>([
    ['nothing', '  \n'],
    ['prose', 'I cannot solve this. From the statement we import nothing.'],
    ['a document without a program', '{"solution_idea": "easy"}'],
    ['an empty program', '{"main": "  "}'],
    ['a program that is cut', `{"solution_idea": "x", "main": "#include <iostream>\\nint main(){ std::co`],
    ['a list', '["main"]'],
    ['only output in a block', '```text\n5\n```'],
    ['too large a program', JSON.stringify({ main: 'x'.repeat(1024 * 1024 + 1) })],
  ])('%s', (_what, text) => {
    expect(read(text)).toMatchObject({ kind: 'unreadable' })
  })

  test('braces by the thousand are looked at quickly', () => {
    expect(read('{ a '.repeat(100_000)).kind).toBe('unreadable')
    expect(read('{"a":'.repeat(100_000)).kind).toBe('unreadable')
    expect(read(`{"a": "${'\\'.repeat(1_000_001)}`).kind).toBe('unreadable')
  })
})
