export type { Host, HostOptions } from './host-options.ts'
export { openHost } from './host.ts'
export { openHostMounts, type HostMounts } from './mount/reach-mount.ts'
export type { TurnPorts } from './turn/turn-ports.ts'
