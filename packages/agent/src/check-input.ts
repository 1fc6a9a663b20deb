import { isAbsolute } from 'node:path'
import type { ConversationOptions, InputPart } from './engine.ts'
import { InvalidArgument } from './errors.ts'

/** What every engine takes. Throws `InvalidArgument`. */
export function checkInput(input: readonly InputPart[]): void {
  if (input.length === 0) throw new InvalidArgument('input', 'must not be empty')
  for (const [index, part] of input.entries())
    if (part.type === 'image' && !part.url.startsWith('data:'))
      throw new InvalidArgument(`input[${index}].url`, 'must be a data: URL')
}

/** The same. */
export function checkOptions({ model, folder }: ConversationOptions): void {
  if (model === '') throw new InvalidArgument('model', 'must not be empty')
  if (!isAbsolute(folder)) throw new InvalidArgument('folder', `must be an absolute path, not ${folder}`)
}
