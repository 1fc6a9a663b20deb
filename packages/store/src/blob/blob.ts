import type { UploadId } from '@parley/protocol'

/** Immutable bytes by SHA-256 (64 hex digits), in rows of 1 MiB. What nobody refers to is collected. */
export interface Blobs {
  /** Throws `ShareExceeded` when as many of the owner's are under way, or under way and held by their name together, as `bounds` say. */
  begin(owner: string, bounds?: { readonly underWay: number; readonly kept: number }): Promise<UploadId>
  /**
   * Chunks come in order; a resend of the last one is harmless. Throws `UploadGap` with the offset it stands at, `ShareExceeded`
   * where it is a person's (`personHolder`) and goes beyond their share.
   */
  write(upload: UploadId, owner: string, offset: number, bytes: Uint8Array): Promise<{ readonly offset: number }>
  /** Checks the hash (if given), stores, and refers to it from `holder`, so that it cannot be collected before it is used. */
  commit(
    upload: UploadId,
    owner: string,
    options: { readonly sha256?: string; readonly holder: string },
  ): Promise<{ readonly sha256: string; readonly bytes: number }>
  abort(upload: UploadId, owner: string): Promise<void>
  /** Stores small bytes in one go. */
  put(bytes: Uint8Array, holder: string): Promise<{ readonly sha256: string; readonly bytes: number }>
  read(
    sha256: string,
    offset: number,
    maxBytes: number,
  ): Promise<{ readonly bytes: Uint8Array; readonly eof: boolean } | undefined>
  stat(sha256: string): Promise<{ readonly bytes: number } | undefined>
  /** Reads all of it again and says whether the hash still holds. */
  verify(sha256: string): Promise<boolean>
  hold(sha256: string, holder: string): Promise<void>
  drop(sha256: string, holder: string): Promise<void>
  isHeld(sha256: string, holder: string): Promise<boolean>
  /** Drops what holders of this prefix have not used for so long. */
  dropStale(holderPrefix: string, ageMs: number): Promise<number>
  /** Removes blobs without holders, those that were let go of (`leftHolder`) among them, and uploads older than an hour, both older than `graceMs`. */
  collect(graceMs: number): Promise<{ readonly blobs: number; readonly uploads: number }>
}
