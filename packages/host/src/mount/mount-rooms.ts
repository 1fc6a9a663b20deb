const MIB = 1024 * 1024

/** What a host holds of messages of mounts that have not ended, by the owner of their agents: four of the largest for each. */
export const MESSAGE_ROOM = { bytes: 512 * MIB, bytesPerOwner: 64 * MIB, uncountedBytes: 64 * 1024 }

/** What a host keeps of what mounts say: their lists, and contents of which more windows may be read. */
export const KEPT_ROOM = { bytes: 1024 * MIB, bytesPerOwner: 256 * MIB }
