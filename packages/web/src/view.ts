/** Something that fills the page until another takes its place. */
export interface View {
  readonly root: HTMLElement
  /** What the tab is called while it is shown. */
  readonly title: string
  /** Lets go of connections, timers and listeners. */
  close(): void
}
