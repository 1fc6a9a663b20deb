/** One static check: what it is called and how to find what is wrong in the tree at `root`. */
export interface Part {
  readonly name: string
  /** The complaints, ready to print, each saying where and what. None means that all is well. */
  readonly run: (root: string) => Promise<readonly string[]>
}
