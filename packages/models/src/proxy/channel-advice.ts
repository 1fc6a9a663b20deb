import type { ReachableModel } from '../channel/directory.ts'

type Known = Pick<ReachableModel, 'channel' | 'places'>

/** How an admin gives a channel another key. */
export function keyAdvice({ channel, places }: Known): string {
  if (channel.source === 'settings') return settingAdvice(places?.key ?? 'the settings of this gateway')
  return `an admin sets another with: parley channel set ${channel.name} --key-file FILE`
}

/** The same after words that say who sets what. */
export function keyPlace({ channel, places }: Known): string {
  if (channel.source === 'settings') return `in ${places?.key ?? 'the settings of this gateway'} and restarts the gateway`
  return `with: parley channel set ${channel.name} --key-file FILE`
}

/** How an admin gives a channel another address. */
export function addressAdvice({ channel, places }: Known): string {
  if (channel.source === 'settings') return settingAdvice(places?.baseUrl ?? 'the settings of this gateway')
  return `an admin sets another with: parley channel set ${channel.name} --base-url URL`
}

/** What the settings made, they make again at every start. */
const settingAdvice = (place: string): string => `it comes from ${place}: an admin changes that and restarts the gateway`
