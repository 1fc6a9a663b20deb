import type { Io } from '@parley/command-line'

const FORCED_EXIT = 1

/** Hears the signals that tell a server of ours to end: the first asks it to, a second one ends it at once. */
export function hearEnd(io: Pick<Io, 'onSignal'>): { readonly asked: Promise<void>; readonly ignore: () => void } {
  const asked = Promise.withResolvers<void>()
  let times = 0
  const ignore = io.onSignal(() => {
    times += 1
    if (times > 1) process.exit(FORCED_EXIT)
    asked.resolve()
  })
  return { asked: asked.promise, ignore }
}
