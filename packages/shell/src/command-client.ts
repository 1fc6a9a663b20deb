import { type Connect, type LinkWord, PATIENCE, SYSTEM_CLOCK, type SteadyClient, openSteadyClient } from '@parley/client'
import type { Io } from '@parley/command-line'

/** The way to a gateway for one command, whose person is told of what takes time. */
export function openCommandClient(connect: Connect, { err, random }: Pick<Io, 'err' | 'random'>): Promise<SteadyClient> {
  return openSteadyClient({
    connect,
    patience: PATIENCE.command,
    clock: SYSTEM_CLOCK,
    random: () => (random(1)[0] ?? 0) / 256,
    tell: linkTeller(err),
  })
}

/** Says what a person waits for, each thing once. */
export function linkTeller(say: (text: string) => void): (word: LinkWord) => void {
  return (word) => {
    if (word.kind === 'lost' && word.wasLive) say('the connection was lost; trying again\n')
    if (word.kind === 'asked-again' && word.times === 1) say(`${word.why.message}; asking again\n`)
  }
}
