/** Where somebody is in the page, read from the address. */
export type PageAddress = { readonly kind: 'jobs' } | { readonly kind: 'job'; readonly id: string } | { readonly kind: 'unknown' }

export function routeOf(path: string): PageAddress {
  if (path === '/' || path === '/jobs' || path === '/jobs/') return { kind: 'jobs' }
  const id = /^\/jobs\/([^/]+)\/?$/.exec(path)?.[1]
  return id === undefined ? { kind: 'unknown' } : { kind: 'job', id }
}

export const jobPath = (id: string): string => `/jobs/${id}`

/** Goes to another place of the page without loading it anew. */
export function go(path: string): void {
  if (path !== location.pathname) history.pushState(undefined, '', path)
  dispatchEvent(new PopStateEvent('popstate'))
}

/** Plain clicks on links of ours stay in the page; with a key held, the browser does what it always does. */
export function keepClicksInside(): void {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (link === null || link.origin !== location.origin || link.hasAttribute('download')) return
    if (routeOf(link.pathname).kind === 'unknown' || link.hash !== '') return
    event.preventDefault()
    go(link.pathname)
  })
}
