/** A required mount could not be reached, or the mounts contradict each other: fix the mount, or make it optional. */
export class MountFailed extends Error {
  readonly code = 'mount_failed'
  readonly mount: string
  constructor(mount: string, why: string, options?: ErrorOptions) {
    super(`the mount ${mount} ${why}`, options)
    this.name = 'MountFailed'
    this.mount = mount
  }
}
