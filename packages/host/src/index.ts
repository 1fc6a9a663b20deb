export { type Host, type HostOptions, openHost } from './host.ts'
export { openHostMounts } from './mount/reach-mount.ts'
