import { delimiter, dirname } from 'node:path'
import { type Server, type Worlds, openWorlds } from '@parley/contracts'
import type { Processes } from '@parley/executor'
import type { Io } from '@parley/command-line'
import { programsOf } from '../programs-of.ts'

/** Where the scenarios of the contracts are played to a server, with the programs of this machine. */
export function openWorldsHere({ env, random }: Io, processes: Processes, server: Server): Promise<Worlds> {
  const path = [dirname(process.execPath), env['PATH'] ?? ''].join(delimiter)
  return openWorlds({ server, programs: programsOf(processes), path, random })
}
