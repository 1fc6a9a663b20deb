import { type JsonObject, RpcError } from '@parley/protocol'
import { JsonText } from '@parley/rpc'

const PAGE_ITEMS = 200
const CURSOR = /^page-(\d{1,6})$/

/** A list that never changes, as the texts of its pages: listing it costs a look-up. */
export class ListPages {
  readonly #pages: readonly JsonText[]

  constructor(member: string, items: readonly object[]) {
    const count = Math.max(1, Math.ceil(items.length / PAGE_ITEMS))
    this.#pages = Array.from({ length: count }, (_, page) => {
      const cursor = page + 1 < count ? { nextCursor: `page-${page + 1}` } : {}
      return new JsonText(JSON.stringify({ [member]: items.slice(page * PAGE_ITEMS, (page + 1) * PAGE_ITEMS), ...cursor }))
    })
  }

  get(params: JsonObject): JsonText {
    const { cursor } = params
    const index =
      cursor === undefined || cursor === null ? 0 : Number(typeof cursor === 'string' ? CURSOR.exec(cursor)?.[1] : Number.NaN)
    const page = this.#pages[index]
    if (page === undefined) throw new RpcError('invalid_params', 'cursor is not one that this list gave', { field: 'cursor' })
    return page
  }
}
