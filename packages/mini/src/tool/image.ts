/** Kinds of images that models take. */
export type ImageKind = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

/** What an image says about itself with its first bytes, whatever it is called. */
export function imageKind(bytes: Uint8Array): ImageKind | undefined {
  const text = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'image/gif'
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'image/webp'
  return undefined
}

export function dataUrl(kind: ImageKind, bytes: Uint8Array): string {
  return `data:${kind};base64,${Buffer.from(bytes).toString('base64')}`
}
