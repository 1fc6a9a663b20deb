import { isJsonObject } from '@parley/protocol'
import type { Reply } from '../client/connection.ts'
import { JsonText } from '../message/text.ts'
import { META } from '../revision.ts'

const FRONT = '{"resultType":"complete",'
/** What our own side puts there: it must not stand there twice. */
const OURS = ['"resultType"', '"ttlMs"', '"cacheScope"']
const HAS_META = '"_meta"'

/**
 * The text of a modern result without what its server's era put around it, so that it need not be written anew: our own side dresses
 * it again. `undefined` where it is laid out in any other way, or anything in it could be taken for what was put around it. A name in a
 * string has its quotes escaped, so that what is found here is the name of a member.
 */
export function undressedText({ result, text }: Reply): JsonText | undefined {
  if (text === undefined || !text.startsWith(FRONT) || OURS.some((name) => text.includes(name, FRONT.length))) return undefined
  const { _meta: meta } = result
  if (!isJsonObject(meta)) return undefined
  const [key, more] = Object.keys(meta)
  if (key !== META.serverInfo || more !== undefined) return undefined
  const back = `,${HAS_META}:${JSON.stringify(meta)}}`
  if (!text.endsWith(back) || text.indexOf(HAS_META) !== text.length - back.length + 1) return undefined
  return new JsonText(`{${text.slice(FRONT.length, -back.length)}}`)
}
