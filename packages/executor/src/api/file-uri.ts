import { messageOf } from '@parley/protocol'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { refusal } from './error-code.ts'

/** The path behind a `file:` URI; anything else is refused with the name of the field. */
export function pathOf(uri: string, field: string): string {
  const parsed = URL.parse(uri)
  if (parsed === null) throw refusal('invalidParams', `${field}: invalid URI: relative URL without a base`)
  if (parsed.protocol !== 'file:') throw refusal('invalidParams', `${field}: only file: URIs are taken, not ${parsed.protocol}`)
  try {
    const path = fileURLToPath(parsed)
    if (path.includes('\0')) throw new TypeError('it holds a NUL')
    return path
  } catch (error) {
    throw refusal('invalidParams', `${field}: invalid URI: ${messageOf(error)}`)
  }
}

export function uriOf(path: string): string {
  return pathToFileURL(path).href
}
