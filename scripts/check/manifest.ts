import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a package.json says about who a package is, what it opens and what it asked for. */
export interface Manifest {
  readonly name: string
  /** `.` and `./browser` and the like. */
  readonly entries: ReadonlySet<string>
  readonly dependencies: ReadonlySet<string>
  readonly devDependencies: ReadonlySet<string>
}

export function loadManifest(folder: string): Manifest | undefined {
  const path = join(folder, 'package.json')
  if (!existsSync(path)) return undefined
  const file: unknown = JSON.parse(readFileSync(path, 'utf8'))
  const field = (name: string): unknown =>
    typeof file === 'object' && file !== null && name in file ? Reflect.get(file, name) : undefined
  const name = field('name')
  return {
    name: typeof name === 'string' ? name : '',
    entries: keys(field('exports')),
    dependencies: new Set([...keys(field('dependencies')), ...keys(field('optionalDependencies'))]),
    devDependencies: keys(field('devDependencies')),
  }
}

const keys = (value: unknown): ReadonlySet<string> =>
  new Set(typeof value === 'object' && value !== null ? Object.keys(value) : [])
