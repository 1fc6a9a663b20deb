/** One page of a list; none is asked for without a cursor but the first. */
export type ReadPage<Item> = (from: {
  readonly cursor?: string
}) => Promise<{ readonly items: readonly Item[]; readonly next_cursor: string | null }>

/** The items of a list that comes in pages, one after the other. Beyond so many pages nothing is read, or `beyond` is thrown. */
export async function* itemsOf<Item>(page: ReadPage<Item>, pagesMax: number, beyond?: () => Error): AsyncGenerator<Item> {
  let from: { readonly cursor?: string } = {}
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const { items, next_cursor: cursor } = await page(from)
    yield* items
    if (cursor === null) return
    from = { cursor }
  }
  if (beyond !== undefined) throw beyond()
}

/** All of them, for who shows a list. */
export async function allItems<Item>(page: ReadPage<Item>, pagesMax: number): Promise<readonly Item[]> {
  const items: Item[] = []
  for await (const item of itemsOf(page, pagesMax)) items.push(item)
  return items
}
