/** A second run was asked of a box before the first had ended; a box runs one program at a time. */
export class BoxBusy extends Error {
  readonly code = 'box_busy'
  constructor() {
    super('the box is running a program already')
    this.name = 'BoxBusy'
  }
}
