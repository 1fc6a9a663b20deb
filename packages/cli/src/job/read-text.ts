import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { usageError } from '../command-line/command-error.ts'

/** The text of the file that an option names, `-` being stdin. What is no text, or none at all, is wrong usage. */
export function readText(cwd: string, flag: string, file: string, limitBytes: number): string {
  const what = `--${flag} ${file}`
  let bytes: Buffer
  try {
    bytes = readFileSync(file === '-' ? 0 : resolve(cwd, file))
  } catch (cause) {
    throw usageError(`${what} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
  if (bytes.length > limitBytes) throw usageError(`${what} has ${bytes.length} bytes, ${limitBytes} are allowed`)
  if (bytes.includes(0)) throw usageError(`${what} is a binary file; text is needed`, 'give the source, not what was compiled')
  const text = decode(bytes)
  if (text === undefined) throw usageError(`${what} is not UTF-8 text`, 'convert it: iconv -f latin1 -t utf-8')
  if (text.trim() === '') throw usageError(`${what} is empty`)
  return text
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
