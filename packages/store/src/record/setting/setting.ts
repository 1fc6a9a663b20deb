/** Facts about the whole installation: the secret's fingerprint and the like. */
export interface StoredSettings {
  get(key: string): Promise<string | undefined>
  /** Sets it unless it is there; answers what is there now. One statement: two starters agree. */
  setOnce(key: string, value: string): Promise<string>
}
