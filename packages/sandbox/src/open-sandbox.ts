import { openBwrap } from './bwrap/open-bwrap.ts'
import { openCage } from './cage/open-cage.ts'
import { openNone } from './none/open-none.ts'
import { type Sandbox, type SandboxOptions, SandboxUnavailable } from './sandbox.ts'

/** Opens the sandbox of this machine: the one that is named, or `cage` and then `bwrap`. Never none of them unless that is named. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  switch (options.driver) {
    case 'cage':
      return openCage(options)
    case 'bwrap':
      return openBwrap(options)
    case 'none':
      return openNone(options)
    case 'auto':
      return openFirst(options)
  }
}

async function openFirst(options: SandboxOptions): Promise<Sandbox> {
  try {
    return await openCage(options)
  } catch (error) {
    if (!(error instanceof SandboxUnavailable)) throw error
    try {
      return await openBwrap(options)
    } catch (second) {
      if (!(second instanceof SandboxUnavailable)) throw second
      throw new SandboxUnavailable(`${error.message}; ${second.message}`, error.hint, { cause: error })
    }
  }
}
