import { DEFAULT_ENVIRONMENT } from '../defaults.ts'
import { withRealPaths } from '../real-paths.ts'
import { isMachineRoot } from '../machine-root.ts'
import type { Sandbox, SandboxOptions } from '../sandbox.ts'
import { limitsShell } from '../spawned/limits-shell.ts'
import { STARVED_PARTNER, type Wrap, spawnedSandbox } from '../spawned/spawned-sandbox.ts'
import { clockWords } from '../starved.ts'

/** No sandbox at all: programs run as we do, under resource limits. Only for programs that are trusted as we are. */
export function openNone(options: SandboxOptions): Promise<Sandbox> {
  const clock = clockWords()
  const report = {
    driver: 'none',
    tier: 'none',
    enforced: {
      cpu: 'watched every 10 ms; resource limit behind it',
      wall: clock.wall,
      memory: 'resident size, watched every 10 ms',
      processes: 'counted every 10 ms',
      output: 'exact count',
    },
    missing: [
      ...clock.missing,
      `programs run as ${isMachineRoot() ? 'root of this machine' : 'this user'}, with all its rights`,
      'files, network, other processes and our own rights are all open to the program: it is not sandboxed',
      'exact CPU time and peak memory: needs the `cage` driver',
      STARVED_PARTNER,
    ],
  } as const
  const wrap: Wrap = (request, { folder, profile }) => {
    const real = withRealPaths(
      { ...request, environment: request.environment ?? DEFAULT_ENVIRONMENT },
      folder.box.slice(0, -'/box'.length),
    )
    return {
      argv: [...limitsShell(request.limits), ...real.argv],
      cwd: profile.kind === 'workspace' ? profile.folder : folder.box,
      environment: real.environment ?? {},
    }
  }
  return spawnedSandbox(report, options.runFolder, { wrap })
}
