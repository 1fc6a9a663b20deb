/** Tells the runner where its result goes. */
export const RESULT_VARIABLE = 'FLAKE_RESULT'
