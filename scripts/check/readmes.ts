import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Part } from './part.ts'
import { loadRooms } from './rooms.ts'

const LIMIT_WORDS = 600

/** Every room says on one page what it owns, what it must not do and what always holds. */
export const readmesPart: Part = {
  name: 'readmes',
  run: (root) => Promise.resolve(checkReadmes(root)),
}

export function checkReadmes(root: string): readonly string[] {
  return loadRooms(root)
    .rooms.filter((room) => !room.planned)
    .flatMap((room) => {
      const path = `packages/${room.name}/README.md`
      if (!existsSync(join(root, path))) return [`${path} is missing: what the room owns, must not do, and what always holds`]
      const words = readFileSync(join(root, path), 'utf8').match(/[\p{L}\p{N}]\S*/gu)?.length ?? 0
      return words > LIMIT_WORDS ? [`${path} has ${words} words, ${LIMIT_WORDS} at most`] : []
    })
}
