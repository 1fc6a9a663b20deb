export const BUNDLES: string
export const SOURCES: string
export function currentBundle(root: string): string | undefined
export function stampOf(root: string, path: string): string
