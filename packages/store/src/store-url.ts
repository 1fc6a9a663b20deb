import { InvalidArgument } from '@parley/database'

export type StoreLocation =
  | { readonly engine: 'sqlite'; readonly path: string }
  | { readonly engine: 'postgres'; readonly url: string }

/** `postgres://…`, `sqlite:PATH`, or a plain path. */
export function parseStoreUrl(url: string): StoreLocation {
  if (/^postgres(?:ql)?:\/\//.test(url)) return { engine: 'postgres', url }
  const path = url.startsWith('sqlite:') ? url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '') : url
  if (path === '' || path.startsWith(':')) throw new InvalidArgument('url', 'must name a file: sqlite:PATH')
  // The rest of such a URL may hold a password, so it is not repeated.
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(path)?.[1]
  if (scheme !== undefined) throw new InvalidArgument('url', `must start with sqlite: or postgres://, not with ${scheme}://`)
  return { engine: 'sqlite', path }
}
