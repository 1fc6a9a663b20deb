// npm run generate: writes every file that is made from data. With --check it only says which ones are not current.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { TYPES_FOLDER } from './contract-types.ts'
import { DOCUMENT_FOLDER, SCHEMA_FOLDER, outputs } from './outputs.ts'

const { values } = parseArgs({ options: { check: { type: 'boolean' }, root: { type: 'string' } } })
const root = values.root ?? dirname(dirname(import.meta.dirname))
const wanted = outputs(root)
const stale = [...wanted].filter(([path, text]) => read(path) !== text).map(([path]) => path)
const orphans = [SCHEMA_FOLDER, DOCUMENT_FOLDER, TYPES_FOLDER].flatMap(listSchemas).filter((path) => !wanted.has(path))

if (values.check === true) report()
else write()

function report(): void {
  for (const path of stale) console.error(`${path} is not current`)
  for (const path of orphans) console.error(`${path} is made from nothing any more`)
  if (stale.length + orphans.length === 0) return
  console.error('run npm run generate and look at what changed')
  process.exitCode = 1
}

function write(): void {
  for (const path of stale) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), wanted.get(path) ?? '')
    console.log(`wrote ${path}`)
  }
  for (const path of orphans) {
    rmSync(join(root, path))
    console.log(`removed ${path}`)
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(join(root, path), 'utf8')
  } catch {
    return undefined
  }
}

function listSchemas(folder: string): readonly string[] {
  try {
    return readdirSync(join(root, folder)).map((name) => `${folder}/${name}`)
  } catch {
    return []
  }
}
