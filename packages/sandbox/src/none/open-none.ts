import { DEFAULT_ENVIRONMENT } from '../defaults.ts'
import { withRealPaths } from '../real-paths.ts'
import type { Sandbox, SandboxOptions } from '../sandbox.ts'
import { limitsShell } from '../spawned/limits-shell.ts'
import { spawnedSandbox } from '../spawned/spawned-sandbox.ts'

/** No sandbox at all: programs run as we do, under resource limits. Only for programs that are trusted as we are. */
export function openNone(options: SandboxOptions): Promise<Sandbox> {
  const report = {
    driver: 'none',
    tier: 'none',
    enforced: {
      cpu: 'watched every 10 ms; resource limit behind it',
      wall: 'clock',
      memory: 'resident size, watched every 10 ms',
      processes: 'counted every 10 ms',
      output: 'exact count',
    },
    missing: [
      'files, network, other processes and our own rights are all open to the program: it is not sandboxed',
      'exact CPU time and peak memory: needs the `cage` driver',
    ],
  } as const
  return spawnedSandbox(report, options.runFolder, (request, folder, profile) => {
    const real = withRealPaths(
      { ...request, environment: request.environment ?? DEFAULT_ENVIRONMENT },
      folder.box.slice(0, -'/box'.length),
    )
    return {
      argv: [...limitsShell(request.limits), ...real.argv],
      cwd: profile.kind === 'workspace' ? profile.folder : folder.box,
      environment: real.environment ?? {},
    }
  })
}
