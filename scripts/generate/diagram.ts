import type { Room, Rooms } from '../check/rooms.ts'

/** The arrows between rooms as Mermaid. Arrows that follow from others are left out, so that the picture can be read. */
export function diagram({ rooms }: Rooms): string {
  const shown = rooms.filter((room) => !room.exempt)
  const nodes = shown.map((room) => (room.planned ? `  ${room.name}:::planned` : `  ${room.name}`))
  const arrows = shown.flatMap((room) => essential(room, rooms).map((target) => `  ${room.name} --> ${target}`))
  return ['```mermaid', 'flowchart TD', ...nodes, ...arrows, '  classDef planned stroke-dasharray: 4 4', '```'].join('\n')
}

/** One line per room: what it is for and what it may import. */
export function roomTable({ rooms }: Rooms): string {
  const rows = rooms.map((room) => {
    const name = room.planned ? `\`${room.name}\` (planned)` : `[\`${room.name}\`](packages/${room.name}/README.md)`
    const imports = room.exempt ? 'any' : room.name === 'cli' ? 'all' : room.imports.join(', ') || '–'
    return `| ${name} | ${room.does} | ${imports} |`
  })
  return ['| room | what it is for | imports |', '| --- | --- | --- |', ...rows].join('\n')
}

function essential(room: Room, rooms: readonly Room[]): readonly string[] {
  const targets = room.imports.map(baseName)
  return targets.filter((target) => !targets.some((other) => other !== target && reachesFrom(other, target, rooms)))
}

function reachesFrom(from: string, to: string, rooms: readonly Room[]): boolean {
  const targets = rooms.find((room) => room.name === from)?.imports.map(baseName) ?? []
  return targets.some((target) => target === to || reachesFrom(target, to, rooms))
}

const baseName = (target: string): string => target.split('/')[0] ?? target
