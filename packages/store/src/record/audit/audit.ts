export interface AuditRecord {
  readonly seq: number
  readonly at: number
  readonly actor: string
  readonly role: string
  readonly action: string
  readonly target: string | null
  readonly outcome: 'ok' | 'denied' | 'failed'
  readonly code: string | null
  readonly remote: string | null
}
export interface AuditEntries {
  /** Appends in order, all or none. `seq` grows by one without a gap. */
  append(entries: readonly Omit<AuditRecord, 'seq'>[]): Promise<void>
  search(filter: {
    readonly actor?: string
    readonly action?: string
    readonly outcome?: AuditRecord['outcome']
    readonly since?: number
    readonly until?: number
    readonly beforeSeq?: number
    readonly limit: number
  }): Promise<readonly AuditRecord[]>
  /** In order, oldest first. */
  after(seq: number, limit: number): Promise<readonly AuditRecord[]>
  /** Removes what is older, and all but the newest `keep` lines; the rest keeps its numbers. */
  prune(before: number, keep?: number): Promise<number>
}
