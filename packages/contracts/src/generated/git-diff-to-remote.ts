// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `gitDiffToRemote`, as Codex 0.44.0 takes or sends them. */
export interface GitDiffToRemoteParams {
  readonly cwd: string
}

/** The result of it. */
export interface GitDiffToRemoteResult {
  readonly sha: string
  readonly diff: string
}

/** The same as the documents declare it. */
export interface DeclaredGitDiffToRemoteParams {
  readonly cwd: string
}

/** The result of it. */
export interface DeclaredGitDiffToRemoteResult {
  readonly sha: string
  readonly diff: string
}
