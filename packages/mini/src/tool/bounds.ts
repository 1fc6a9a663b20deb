/** Every bound of the engine's own tools, by name. What a model may read of one result is `ToolLimits.resultBytes`. */
export const TOOL_BOUNDS = {
  /** A path as the model writes it. */
  pathBytes: 4_096,
  /** Of one command, told as it comes; what is beyond counts and is dropped. */
  streamedBytes: 1024 * 1024,

  /** Read by `read_file` to find lines and count them. */
  scannedBytes: 64 * 1024 * 1024,
  /** Shown of one line. */
  lineBytes: 2_000,
  readLines: 2_000,
  imageBytes: 4 * 1024 * 1024,

  listDepth: 32,
  listDepthDefault: 3,
  listEntries: 1_000,
  /** Entries looked at by `list_files` and `search`, shown or not. */
  visitedEntries: 100_000,
  /** Entries read of one folder. */
  folderEntries: 20_000,
  globBytes: 512,
  globAlternatives: 64,

  searchMs: 10_000,
  /** Until the thread that searches has begun. */
  searchStartMs: 60_000,
  searchResults: 1_000,
  searchResultsDefault: 100,
  /** Larger files are not searched. */
  searchFileBytes: 8 * 1024 * 1024,
  searchBytes: 512 * 1024 * 1024,
  searchPatternBytes: 2_000,
  /** Shown of a line that was found. */
  searchLineBytes: 300,
  searchMemoryMb: 192,
  /** Searches of one conversation at the same time; others wait. */
  searchesAtOnce: 2,

  patchBytes: 2 * 1024 * 1024,
  patchFiles: 200,
  /** Larger files are not patched. */
  patchedFileBytes: 8 * 1024 * 1024,

  planSteps: 100,
  planStepBytes: 1_000,

  /** Of one mounted server. */
  mountTools: 256,
  descriptionBytes: 4_096,
  schemaBytes: 64 * 1024,
  schemaDepth: 32,
  /** Images that one result hands on. */
  resultImages: 8,
  /** Times that a mounted server which died is connected again. */
  mountReconnects: 3,
  /** How long closing waits for one server. */
  mountCloseMs: 3_000,
  /** Of one call, as `tool_output`. */
  progressEvents: 1_000,
} as const
