const KIB = 1024
const MIB = 1024 * KIB

/** What a job may ask for and hold. Everything that a person or a judge sends is bounded by one of these. */
export const JOB_LIMITS = {
  timeLimitMs: { default: 2_000, min: 1, max: 60_000 },
  memoryLimitMb: { default: 1_024, min: 16, max: 4_096 },
  cpus: 1,
  pidsLimit: 256,
  outputBytesPerTest: 16 * MIB,
  terminalLogBytes: 5 * MIB,
  agentStatusLogBytes: 5 * MIB,
  casesLogBytes: 16 * MIB,
  transcriptLogBytes: 64 * MIB,
  statementBytes: MIB,
  codeBytes: MIB,
  /** `tests_zip_b64` in one call; more goes by `blob.*`. */
  zipInCallBytes: 8 * MIB,
  zipBytes: 256 * MIB,
  zipEntries: 2_000,
  zipTotalBytes: 512 * MIB,
  zipFileBytes: 64 * MIB,
  zipDepth: 8,
  /** One chunk of an upload, a download or an append. */
  chunkBytes: MIB,
  previewBytes: { default: 64 * KIB, max: 256 * KIB },
  /** How much of each stream of a case goes into the report. */
  reportStreamBytes: 64 * KIB,
  artifactBytes: 8 * MIB,
  artifacts: 64,
  waitMs: 30_000,
  leaseMs: 30_000,
  /** A job that so many judges lost while they worked on it ends as failed. */
  lostClaims: 3,
  keptMs: 7 * 86_400_000,
  /** A person's share, unless an admin set another: of bytes, and of jobs whatever became of them. */
  userBytes: 2 * KIB * MIB,
  keptJobs: 2_000,
  /** Jobs of one person that wait or run. */
  unfinishedJobs: 1_000,
  /** Uploads of one person that are under way, and those that are kept for a job to be made of. */
  userUploads: 64,
  /** One upload. */
  blobBytes: 2 * KIB * MIB,
  keptUploads: 1_000,
} as const
