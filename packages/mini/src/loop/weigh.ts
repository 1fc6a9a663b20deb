import type { JsonValue } from '@parley/protocol'

/** Characters of one token, where nothing better is known. Rather too few: an estimate must not be too small. */
const CHARACTERS_PER_TOKEN = 3.5
/** What an image comes to, whatever its bytes. */
const IMAGE_CHARACTERS = 6_000
/** Braces, names and commas around one value. */
const FRAME_CHARACTERS = 4

/** Roughly how many tokens a value comes to, without making text of it. */
export const weigh = (value: JsonValue | undefined): number => Math.ceil(charactersOf(value) / CHARACTERS_PER_TOKEN)

function charactersOf(value: JsonValue | undefined): number {
  if (typeof value === 'string') return value.startsWith('data:') ? IMAGE_CHARACTERS : value.length + FRAME_CHARACTERS
  if (value === null || typeof value !== 'object') return FRAME_CHARACTERS
  let characters = FRAME_CHARACTERS
  if (Array.isArray(value)) for (const part of value) characters += charactersOf(part)
  else for (const name in value) characters += name.length + charactersOf(value[name])
  return characters
}
