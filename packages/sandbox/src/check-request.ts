import { isAbsolute } from 'node:path'
import type { RunLimits, RunRequest } from './sandbox.ts'

/** A request that no sandbox could carry out: the message names the field. */
export class BadRunRequest extends Error {
  readonly code = 'bad_run_request'
  readonly field: string
  constructor(field: string, problem: string) {
    super(`${field} ${problem}`)
    this.name = 'BadRunRequest'
    this.field = field
  }
}

const MAX_KEPT = 64
const MAX_FILES = 4096
const LIMITS: readonly Exclude<keyof RunLimits, 'starvedWallMs'>[] = [
  'cpuMs',
  'wallMs',
  'memoryBytes',
  'outputBytes',
  'processes',
  'boxBytes',
  'openFiles',
]

/** Throws for what is wrong with a request whatever runs it. */
export function checkRequest(request: RunRequest): void {
  for (const name of LIMITS) {
    const value = request.limits[name]
    if (!Number.isFinite(value) || value < 0 || value > Number.MAX_SAFE_INTEGER)
      throw new BadRunRequest(`limits.${name}`, 'must be a number from 0 on')
    if (!name.endsWith('Ms') && !Number.isInteger(value)) throw new BadRunRequest(`limits.${name}`, 'must be a whole number')
  }
  const { wallMs, starvedWallMs = wallMs } = request.limits
  if (!(starvedWallMs >= wallMs && starvedWallMs <= Number.MAX_SAFE_INTEGER))
    throw new BadRunRequest('limits.starvedWallMs', 'must be a number from limits.wallMs on, or left out')
  if (request.argv[0] === '') throw new BadRunRequest('argv', 'must begin with the program')
  checkStrings('argv', request.argv)
  for (const [name, value] of Object.entries(request.environment ?? {})) {
    if (name === '' || name.includes('=')) throw new BadRunRequest('environment', `has a variable called "${name}"`)
    checkStrings(`environment.${name}`, [name, value])
  }
  checkFiles(request)
}

function checkFiles(request: RunRequest): void {
  const files = request.files ?? []
  const keep = request.keep ?? []
  if (files.length > MAX_FILES) throw new BadRunRequest('files', `has more than ${MAX_FILES} entries`)
  if (keep.length > MAX_KEPT) throw new BadRunRequest('keep', `has more than ${MAX_KEPT} entries`)
  for (const { name, from } of files) {
    checkName('files', name)
    if ('path' in from) checkPath('files', from.path)
  }
  for (const { name, to } of keep) {
    checkName('keep', name)
    checkPath('keep', to)
  }
  for (const path of request.readable ?? []) checkPath('readable', path)
  if (request.stdin?.kind === 'file') checkPath('stdin', request.stdin.path)
}

function checkName(field: string, name: string): void {
  const good =
    name !== '' && !name.includes('\0') && name.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  if (!good) throw new BadRunRequest(field, `has "${name}", which is not a path below the box`)
}

function checkPath(field: string, path: string): void {
  if (!isAbsolute(path) || path.includes('\0')) throw new BadRunRequest(field, `has "${path}", which is not an absolute path`)
}

function checkStrings(field: string, values: readonly string[]): void {
  if (values.some((value) => value.includes('\0'))) throw new BadRunRequest(field, 'holds a zero byte')
}
