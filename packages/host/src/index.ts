export { type Host, type HostOptions, openHost } from './host.ts'
export { openHostMounts, type HostMounts } from './mount/reach-mount.ts'
export type { TurnPorts } from './turn/turn-ports.ts'
