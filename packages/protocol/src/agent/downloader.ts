import type { ServerSpec } from './mount.ts'

/** Programs that fetch what they run, and those that do with their first word. */
const ALWAYS: readonly string[] = ['npx', 'bunx', 'pnpx', 'uvx', 'pipx']
const WITH: Readonly<Record<string, readonly string[]>> = {
  npm: ['exec', 'x'],
  pnpm: ['dlx'],
  yarn: ['dlx'],
  bun: ['x'],
  uv: ['run', 'tool'],
}

/** How a command is called that downloads what it runs; `undefined`: it is none. */
function downloaderOf(command: string, args: readonly string[]): string | undefined {
  const program = command.slice(command.lastIndexOf('/') + 1)
  if (ALWAYS.includes(program)) return program
  const word = args.find((each) => !each.startsWith('-'))
  return word !== undefined && Object.hasOwn(WITH, program) && WITH[program]?.includes(word) === true
    ? `${program} ${word}`
    : undefined
}

/** Why such a command gets nowhere in a box without a network, and what to do; `undefined`: it is no such command, or runs elsewhere. */
export function missingDownload(server: ServerSpec): string | undefined {
  if (server.kind === 'http' || server.place.kind !== 'boxed' || server.network) return undefined
  const downloader = downloaderOf(server.command, server.args)
  if (downloader === undefined) return undefined
  return `${downloader} downloads what it runs, and a box has no network: install the server and show its folder to the box, or attach it with --network (docs/sandbox.md, Servers from npm)`
}
