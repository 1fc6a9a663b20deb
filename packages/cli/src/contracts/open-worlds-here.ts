import { delimiter, dirname } from 'node:path'
import { type Server, type Worlds, openWorlds } from '@parley/contracts'
import { type Processes, capture } from '@parley/executor'
import type { Io } from '../command-line/io.ts'

/** Where the scenarios of the contracts are played to a server, with the programs of this machine. */
export function openWorldsHere({ env, random }: Io, processes: Processes, server: Server): Promise<Worlds> {
  return openWorlds({
    server,
    programs: { start: (call) => processes.start(call), run: (call, bounds) => capture(processes, call, bounds) },
    path: [dirname(process.execPath), env['PATH'] ?? ''].join(delimiter),
    random,
  })
}
