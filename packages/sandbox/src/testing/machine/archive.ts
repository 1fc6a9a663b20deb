import { constants } from 'node:fs'
import { lstat, open, readFile, readlink, readdir, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

const ALIGNED = 4
const KIND = { folder: constants.S_IFDIR | 0o755, file: constants.S_IFREG | 0o755, link: constants.S_IFLNK | 0o777 } as const
/** They lie below `usr` on most systems, and links lead there. */
const TOP_FOLDERS = ['/bin', '/sbin', '/lib', '/lib64']

/** A file with the tree from which a kernel starts, in the form that kernels unpack (`newc` of cpio). */
export class Archive implements AsyncDisposable {
  readonly #file: Awaited<ReturnType<typeof open>>
  readonly #names = new Set<string>()
  #entries = 0

  private constructor(file: Awaited<ReturnType<typeof open>>) {
    this.#file = file
  }

  static async create(path: string): Promise<Archive> {
    const archive = new Archive(await open(path, 'wx'))
    for (const folder of TOP_FOLDERS) {
      const found = await lstat(folder).catch(() => undefined)
      if (found?.isSymbolicLink() === true) await archive.#put(folder, 'link', Buffer.from(await readlink(folder)))
    }
    return archive
  }

  async addFolder(path: string): Promise<void> {
    if (path === '/' || this.#names.has(path)) return
    await this.addFolder(dirname(path))
    await this.#put(path, 'folder', Buffer.alloc(0))
  }

  async addText(path: string, text: string): Promise<void> {
    await this.addFolder(dirname(path))
    await this.#put(path, 'file', Buffer.from(text))
  }

  /** A file of this machine under the name by which it is called, whatever links lead to it; a folder with all in it. */
  async addFrom(path: string): Promise<void> {
    const at = join(await realpath(dirname(path)), basename(path))
    if (this.#names.has(at)) return
    const found = await realpath(path)
    if ((await lstat(found)).isDirectory()) {
      await this.addFolder(at)
      for (const name of await readdir(found)) await this.addFrom(join(path, name))
      return
    }
    await this.addFolder(dirname(at))
    await this.#put(at, 'file', await readFile(found))
  }

  async #put(path: string, kind: keyof typeof KIND, bytes: Uint8Array): Promise<void> {
    this.#names.add(path)
    await this.#write(path.slice(1), KIND[kind], bytes)
  }

  async #write(name: string, mode: number, bytes: Uint8Array): Promise<void> {
    this.#entries += 1
    const nameBytes = Buffer.from(`${name}\0`)
    const [noOwner, oneLink, noTime, noDevice, noSum] = [0, 1, 0, 0, 0]
    const devices = [noDevice, noDevice, noDevice, noDevice]
    const fields = [this.#entries, mode, noOwner, noOwner, oneLink, noTime, bytes.length, ...devices, nameBytes.length, noSum]
    const head = `070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}`
    await this.#file.write(aligned(Buffer.concat([Buffer.from(head), nameBytes])))
    await this.#file.write(aligned(bytes))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#write('TRAILER!!!', 0, Buffer.alloc(0))
    await this.#file.close()
  }
}

function aligned(bytes: Uint8Array): Uint8Array {
  const missing = (ALIGNED - (bytes.length % ALIGNED)) % ALIGNED
  return missing === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(missing)])
}
