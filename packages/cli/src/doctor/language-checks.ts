import { findLanguages } from '@parley/judge'
import type { Sandbox } from '@parley/sandbox'
import type { Io } from '@parley/command-line'
import { toolPlacesOf } from '../installed/tool-places.ts'
import type { DoctorCheck } from './doctor-check.ts'

interface LanguageRow {
  readonly name: string
  /** Languages that come with the same tool; one of them stands for all. */
  readonly language: string
  readonly title: string
  readonly tool: string
  readonly hint: string
}

const ROWS: readonly LanguageRow[] = [
  { name: 'c', language: 'c', title: 'C', tool: 'gcc', hint: 'apt install gcc libc6-dev' },
  { name: 'c++', language: 'cpp', title: 'C++', tool: 'g++', hint: 'apt install g++' },
  { name: 'python', language: 'python', title: 'Python', tool: 'python3', hint: 'apt install python3' },
  { name: 'javascript', language: 'javascript', title: 'JavaScript and TypeScript', tool: 'node', hint: 'run npm install again' },
  { name: 'java', language: 'java', title: 'Java', tool: 'javac', hint: 'apt install default-jdk-headless' },
  { name: 'rust', language: 'rust', title: 'Rust', tool: 'rustc', hint: 'apt install rustc' },
  { name: 'go', language: 'go', title: 'Go', tool: 'go', hint: 'apt install golang' },
]

/** What to do on a machine that cannot judge a language; undefined for one that comes with another. */
export const hintFor = (language: string): string | undefined => ROWS.findLast((row) => language.startsWith(row.language))?.hint

/** The languages that `parley up` and `parley judge` would offer here, asked as they ask: in a box, with this PATH. */
export async function checkLanguages(sandbox: Sandbox, { env }: Pick<Io, 'env'>): Promise<DoctorCheck[]> {
  const found = await findLanguages(sandbox, { ...toolPlacesOf(env), nodePath: process.execPath })
  return ROWS.map(({ name, language, title, tool, hint }) => {
    const known = found.find((one) => one.language === language)
    if (known !== undefined) return { name, status: 'ok', detail: `${known.version}, ${known.tool}` }
    const detail = `no ${tool} that runs inside the sandbox, neither of the system nor on PATH; it is for judging ${title}`
    return { name, status: 'missing', detail, hint }
  })
}
