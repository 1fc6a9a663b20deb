import { closeSync, constants, ftruncateSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { JOB_LOGS, type JobLogName } from '@parley/protocol'
import { type WaitingBytes, WaitingPieces } from '../waiting-bytes.ts'
import { logFile, placeFile } from './log-names.ts'
import { placeBytes } from './log-place.ts'

const NEWLINE = 10
const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/**
 * One log of a claim in a file: what was said is there before it counts as said, and goes to the gateway from there. A disk that
 * takes no more does not end a job: what is said from then on waits in memory, behind what the file holds.
 */
export class LogFile implements WaitingBytes {
  readonly #placePath: string
  readonly #limitBytes: number
  readonly #file: number
  readonly #place: number
  readonly #later = new WaitingPieces()
  /** Called once, when the disk takes no more. */
  onBroken: (error: unknown) => void = () => {}
  /** Called when so many bytes of the file cannot be read again. */
  onUnreadable: (bytes: number) => void = () => {}
  #size = 0
  #acked = 0
  #offset: number
  #isBroken = false
  #isPlaceless = false
  #isClosed = false

  /** Makes the file. `offset`: where the log ends at the gateway. */
  constructor(folder: string, log: JobLogName, offset: number) {
    this.#offset = offset
    this.#limitBytes = JOB_LOGS[log].maxBytes
    this.#placePath = join(folder, placeFile(log))
    this.#file = openSync(join(folder, logFile(log)), FLAGS, 0o600)
    try {
      this.#place = openSync(this.#placePath, FLAGS, 0o600)
    } catch (error) {
      closeSync(this.#file)
      throw error
    }
    this.#keepPlace(0)
    if (this.#isPlaceless) {
      this.close()
      throw new Error(`${this.#placePath} cannot be written`)
    }
  }

  get size(): number {
    return this.#isClosed ? 0 : this.#size - this.#acked + this.#later.size
  }
  /** How many bytes of the file need not be sent any more. */
  get acked(): number {
    return this.#acked
  }

  push(piece: Buffer): void {
    // An engine that was left behind may still speak; the number of a closed file may be that of another by then.
    if (this.#isClosed) return
    if (this.#isBroken) return this.#later.push(piece)
    try {
      // A gateway that keeps saying that its log is empty must not fill our disk.
      if (this.#size + piece.length > this.#limitBytes) throw new Error('the file has as much as a log may hold')
      this.add(piece)
    } catch (error) {
      this.#later.push(piece)
      this.#break(error)
    }
  }

  /** Adds to the file or throws, and then nothing of it is there. */
  add(piece: Buffer): void {
    try {
      // A disk that runs full takes a part and says so only the next time.
      for (let written = 0; written < piece.length;)
        written += writeSync(this.#file, piece, written, piece.length - written, this.#size + written)
      this.#size += piece.length
    } catch (error) {
      this.#cutBack()
      throw error
    }
  }

  next(limitBytes: number): Buffer {
    if (this.#isClosed) return Buffer.alloc(0)
    const left = this.#size - this.#acked
    if (left === 0) return this.#later.next(limitBytes)
    const bytes = this.#read(Math.min(left, limitBytes))
    if (bytes === undefined) {
      this.#acked = this.#size
      this.#keepPlace(this.#size)
      this.onUnreadable(left)
      return Buffer.alloc(0)
    }
    if (left <= limitBytes) return bytes
    const end = bytes.lastIndexOf(NEWLINE) + 1
    return end === 0 ? bytes : bytes.subarray(0, end)
  }

  sending(bytes: number): void {
    this.#keepPlace(Math.min(this.#size, this.#acked + bytes))
  }

  arrived(bytes: number, offset: number): void {
    const ofFile = Math.min(bytes, this.#size - this.#acked)
    this.#acked += ofFile
    this.#offset = offset
    this.#later.arrived(bytes - ofFile)
    this.#keepPlace(this.#acked)
  }

  clear(): void {
    this.#later.clear()
    this.#acked = this.#size
    this.#keepPlace(this.#size)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    closeSync(this.#file)
    closeSync(this.#place)
  }

  #read(bytes: number): Buffer | undefined {
    try {
      const piece = Buffer.alloc(bytes)
      return readSync(this.#file, piece, 0, bytes, this.#acked) === bytes ? piece : undefined
    } catch {
      return undefined
    }
  }

  /**
   * Writes down how far it got, before every send and after every answer. A place that is not true any more would have a later
   * judge repeat lines, so one that cannot be written is removed.
   */
  #keepPlace(sent: number): void {
    if (this.#isPlaceless || this.#isClosed) return
    try {
      const bytes = placeBytes({ acked: this.#acked, offset: this.#offset, sent })
      if (writeSync(this.#place, bytes, 0, bytes.length, 0) !== bytes.length) throw new Error('the disk took a part of it')
    } catch (error) {
      this.#forgetPlace()
      this.#break(error)
    }
  }

  #forgetPlace(): void {
    this.#isPlaceless = true
    try {
      rmSync(this.#placePath, { force: true })
    } catch {
      // A disk that nobody may write to any more keeps it; no judge can begin on that disk either.
    }
  }

  /** What is half there now is said from memory, so a later judge must not take it from here. */
  #cutBack(): void {
    try {
      ftruncateSync(this.#file, this.#size)
    } catch {
      this.#forgetPlace()
    }
  }

  #break(error: unknown): void {
    if (this.#isBroken) return
    this.#isBroken = true
    this.onBroken(error)
  }
}
