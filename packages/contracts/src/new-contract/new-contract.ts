import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Registry, registry } from '../registry/registry.ts'

/** A method is words with slashes between them: `newConversation`, `thread/start`, `codex/event`. */
const METHOD = /^[a-zA-Z][a-zA-Z0-9_]*(\/[a-zA-Z][a-zA-Z0-9_]*)*$/
const METHOD_CHARACTERS = 80
const TEMPLATE = new URL('template/', import.meta.url)

/** The name is none that a method can have. */
export class BadMethodName extends Error {
  readonly code = 'bad_method_name'
  constructor(method: string) {
    super(
      `${JSON.stringify(method.slice(0, METHOD_CHARACTERS))} is no name of a method; one looks like newConversation or thread/start`,
    )
    this.name = 'BadMethodName'
  }
}

/** There is a contract of that name already; nothing was written. */
export class ContractExists extends Error {
  readonly code = 'contract_exists'
  constructor(message: string) {
    super(message)
    this.name = 'ContractExists'
  }
}

/** Writes the two files of a new contract, whose test fails until they are filled in. Throws `BadMethodName`, `ContractExists`. */
export async function newContract(
  method: string,
  folder: string,
  contracts: Registry = registry,
): Promise<readonly [string, string]> {
  if (method.length > METHOD_CHARACTERS || !METHOD.test(method)) throw new BadMethodName(method)
  const known = contracts.names.find((name) => name.toLowerCase() === fileName(method).toLowerCase())
  if (known !== undefined) throw new ContractExists(`${method} has a contract already: parley contracts show ${method}`)
  const file = fileName(method)
  const schema = join(folder, `${file}.schema.json`)
  const test = join(folder, `${file}.contract.test.ts`)
  await mkdir(folder, { recursive: true })
  await writeNew(schema, await filled('method.schema.json', method))
  try {
    await writeNew(test, await filled('method.contract.test.ts.txt', method))
  } catch (error) {
    // Half a contract would be refused the next time as one that exists.
    await rm(schema, { force: true })
    throw error
  }
  return [schema, test]
}

const fileName = (method: string): string => method.replaceAll('/', '-')

async function filled(name: string, method: string): Promise<string> {
  const text = await readFile(new URL(name, TEMPLATE), 'utf8')
  return text.replaceAll('METHOD', method).replaceAll('FILE.', `${fileName(method)}.`)
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx' })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') throw new ContractExists(`${path} exists already`)
    throw error
  }
}
