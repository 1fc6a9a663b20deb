import { expect, test } from 'vitest'
import * as errors from './errors.ts'

test('every error has its pinned code and says what happened', () => {
  const all = [
    new errors.LeaseLost({ queue: 'q', key: 'k' }),
    new errors.AlreadyExists('user ann'),
    new errors.NotFound('user ann'),
    new errors.Conflict('user ann is disabled'),
    new errors.UploadGap('upl_1', 5),
    new errors.HashMismatch('a', 'b'),
    new errors.TooLarge('the append', 5),
    new errors.InvalidArgument('name', 'must not be empty'),
    new errors.SchemaTooNew(3, 2),
    new errors.StoreUnavailable('gone'),
    new errors.StoreLocked('/data/lock'),
    new errors.NotAStore('/file', 'is damaged'),
    new errors.TargetNotEmpty('/file'),
  ]
  expect(all.map((error) => [error.name, error.code])).toEqual([
    ['LeaseLost', 'lease_lost'],
    ['AlreadyExists', 'already_exists'],
    ['NotFound', 'not_found'],
    ['Conflict', 'conflict'],
    ['UploadGap', 'offset_mismatch'],
    ['HashMismatch', 'hash_mismatch'],
    ['TooLarge', 'too_large'],
    ['InvalidArgument', 'invalid_argument'],
    ['SchemaTooNew', 'schema_too_new'],
    ['StoreUnavailable', 'unavailable'],
    ['StoreLocked', 'locked'],
    ['NotAStore', 'not_a_store'],
    ['TargetNotEmpty', 'not_empty'],
  ])
  for (const error of all) expect(error).toBeInstanceOf(errors.StoreError)
})
