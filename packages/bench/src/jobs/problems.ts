import { once } from 'node:events'
import type { Language, Verdict } from '@parley/protocol'
import { ZipFile } from 'yazl'

/** A small job whose outcome is known: what is handed in, and what every case must come to. */
export interface Problem {
  readonly name: string
  readonly language: Language
  readonly code: string
  readonly status: 'succeeded' | 'failed'
  readonly verdicts: readonly Verdict[]
}

const CASES = 4
const sumInC = (body: string): string => `#include <stdio.h>
#include <stdlib.h>
int main(void) { long a, b; if (scanf("%ld %ld", &a, &b) != 2) return 9; ${body} return 0; }
`
const all = (verdict: Verdict): readonly Verdict[] => Array.from({ length: CASES }, () => verdict)

/** Right, wrong, crashing, too slow, not compiling; a quick language and a slow one. */
export const PROBLEMS: readonly Problem[] = [
  { name: 'right in C', language: 'c', code: sumInC('printf("%ld\\n", a + b);'), status: 'succeeded', verdicts: all('AC') },
  { name: 'wrong in C', language: 'c', code: sumInC('printf("%ld\\n", a - b - 1);'), status: 'failed', verdicts: all('WA') },
  {
    name: 'crashing in C',
    language: 'c',
    code: sumInC('printf("%ld\\n", a + b); abort();'),
    status: 'failed',
    verdicts: all('RE'),
  },
  {
    name: 'endless in C',
    language: 'c',
    code: sumInC('for (volatile long i = 0;; i++) {}'),
    status: 'failed',
    verdicts: all('TLE'),
  },
  { name: 'no C at all', language: 'c', code: 'int main( {', status: 'failed', verdicts: [] },
  {
    name: 'right in Python',
    language: 'python',
    code: 'print(sum(map(int, input().split())))\n',
    status: 'succeeded',
    verdicts: all('AC'),
  },
  {
    name: 'idle in Python',
    language: 'python',
    code: 'import time\na = input()\ntime.sleep(0.3)\nprint(sum(map(int, a.split())))\n',
    status: 'succeeded',
    verdicts: all('AC'),
  },
]

/** The tests of all of them: sums, as pairs of `.in` and `.out`. */
export async function sumTests(): Promise<Buffer> {
  const zip = new ZipFile()
  for (let index = 1; index <= CASES; index += 1) {
    zip.addBuffer(Buffer.from(`${index} ${index * 10}\n`), `tests/${index}.in`)
    zip.addBuffer(Buffer.from(`${index * 11}\n`), `tests/${index}.out`)
  }
  zip.end()
  const chunks: Buffer[] = []
  zip.outputStream.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(zip.outputStream, 'end')
  return Buffer.concat(chunks)
}
