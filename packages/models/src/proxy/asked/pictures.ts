import { type JsonValue, isJsonObject } from '@parley/protocol'
import { wrongField } from '../refusal.ts'

/** Formats that are nothing but a picture: one of another kind may itself name what is to be fetched, as SVG does. */
const PICTURE = /^data:image\/(?:png|jpeg|jpg|gif|webp);base64,[A-Za-z0-9+/=_-]*$/

/** What the pictures of a request come to. */
export interface Pictures {
  count: number
  /** Characters that they have, which are no text. */
  chars: number
}

/** The address of a picture as it goes on, counted: the picture itself, as a data URL, on either wire. */
export function pictureIn(value: JsonValue, at: string, pictures: Pictures): JsonValue {
  const url = isJsonObject(value) ? value['url'] : value
  if (typeof url !== 'string' || !PICTURE.test(url))
    throw wrongField(
      at,
      'pictures are not fetched here: send it as a data URL of a PNG, JPEG, GIF or WebP (data:image/png;base64,…)',
    )
  pictures.count += 1
  pictures.chars += url.length
  if (!isJsonObject(value)) return url
  return { url, ...(typeof value['detail'] === 'string' ? { detail: value['detail'] } : {}) }
}
