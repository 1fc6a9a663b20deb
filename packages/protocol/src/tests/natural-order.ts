const PIECES = /\d+|\D+/g

/** Orders names as people count: 2 before 10, `a/9` before `a/10`. A total order: only equal texts are equal. */
export function compareNaturally(a: string, b: string): number {
  const left = a.split('/')
  const right = b.split('/')
  for (const [index, segment] of left.entries()) {
    const other = right[index]
    if (other === undefined) return 1
    const order = compareSegments(segment, other)
    if (order !== 0) return order
  }
  return left.length - right.length
}

function compareSegments(a: string, b: string): number {
  const left = a.match(PIECES) ?? []
  const right = b.match(PIECES) ?? []
  for (const [index, piece] of left.entries()) {
    const other = right[index]
    if (other === undefined) return 1
    const order = comparePieces(piece, other)
    if (order !== 0) return order
  }
  // `1` and `01` count the same; the text decides, so that the order never depends on who came first.
  return left.length - right.length || compareTexts(a, b)
}

/** Numbers of any length: without their leading zeros the longer one is the larger one. */
function comparePieces(a: string, b: string): number {
  if (!isNumber(a) || !isNumber(b)) return compareTexts(a, b)
  const left = a.replace(/^0+/, '')
  const right = b.replace(/^0+/, '')
  return left.length - right.length || compareTexts(left, right)
}

const isNumber = (piece: string): boolean => piece >= '0' && piece < ':'
const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
