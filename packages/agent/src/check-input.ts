import type { InputPart } from './engine.ts'
import { InvalidArgument } from './errors.ts'

/** What every engine takes. Throws `InvalidArgument`. */
export function checkInput(input: readonly InputPart[]): void {
  if (input.length === 0) throw new InvalidArgument('input', 'must not be empty')
  for (const [index, part] of input.entries())
    if (part.type === 'image' && !part.url.startsWith('data:'))
      throw new InvalidArgument(`input[${index}].url`, 'must be a data: URL')
}
