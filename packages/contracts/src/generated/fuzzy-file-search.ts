// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `fuzzyFileSearch`, as Codex 0.44.0 takes or sends them. */
export interface FuzzyFileSearchParams {
  readonly query: string
  readonly roots: readonly string[]
  readonly cancellationToken?: string | null
}

/** The result of it. */
export interface FuzzyFileSearchResult {
  readonly files: readonly FuzzyFileSearchResultFilesItem[]
}

export interface FuzzyFileSearchResultFilesItem {
  readonly root: string
  readonly path: string
  readonly file_name: string
  readonly score: number
  readonly indices?: readonly number[]
}

/** The same as the documents declare it. */
export interface DeclaredFuzzyFileSearchParams {
  readonly query: string
  readonly roots: readonly string[]
  readonly cancellationToken?: string | null
}

/** The result of it. */
export interface DeclaredFuzzyFileSearchResult {
  readonly files: readonly DeclaredFuzzyFileSearchResultFilesItem[]
}

export interface DeclaredFuzzyFileSearchResultFilesItem {
  readonly root: string
  readonly path: string
  readonly file_name: string
  readonly score: number
  readonly indices?: readonly number[]
}
