import { expect, test } from 'vitest'
import { routeOf } from './route.ts'

test('every address is one place of the page', () => {
  expect(['/', '/jobs', '/jobs/', '/jobs/job_1', '/jobs/job_1/', '/jobs/a/b', '/else'].map(routeOf)).toEqual([
    { kind: 'jobs' },
    { kind: 'jobs' },
    { kind: 'jobs' },
    { kind: 'job', id: 'job_1' },
    { kind: 'job', id: 'job_1' },
    { kind: 'unknown' },
    { kind: 'unknown' },
  ])
})
