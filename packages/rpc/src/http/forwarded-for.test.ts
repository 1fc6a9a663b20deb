import { expect, test } from 'vitest'
import type { Route } from './route.ts'
import { openTestServer } from '../fixture/open-server.ts'
import { openProbe } from '../fixture/probe-service.ts'

const tellAddress: Route = ({ path, remoteAddress }) => (path === '/who' ? { status: 200, body: remoteAddress } : undefined)

test.for([
  ['203.0.113.7', '203.0.113.7'],
  ['9.9.9.9, 203.0.113.7', '203.0.113.7'],
  ['9.9.9.9, 203.0.113.7, 10.0.0.1', '203.0.113.7'],
  ['9.9.9.9, 203.0.113.7:4711', '203.0.113.7'],
  ['9.9.9.9, [2001:DB8::1]:4711', '2001:db8::1'],
  ['9.9.9.9, [2001:db8::1]', '2001:db8::1'],
  ['9.9.9.9, 2001:db8::1', '2001:db8::1'],
  ['9.9.9.9, ::ffff:203.0.113.7', '203.0.113.7'],
  ['9.9.9.9, 203.0.113.7:4711, 10.0.0.1:80', '203.0.113.7'],
  ['9.9.9.9, unknown', '127.0.0.1'],
  ['9.9.9.9, _hidden', '127.0.0.1'],
  ['9.9.9.9,', '127.0.0.1'],
  ['9.9.9.9, 203.0.113.7:', '127.0.0.1'],
  ['9.9.9.9, [203.0.113.7]', '127.0.0.1'],
  ['9.9.9.9, 1.2.3.4.5:80', '127.0.0.1'],
  ['9.9.9.9, unknown, 10.0.0.1', '10.0.0.1'],
  ['10.0.0.1', '10.0.0.1'],
] as const)('behind a proxy that writes "%s" the client is %s', async ([header, address]) => {
  await using open = await openTestServer(openProbe().service, {
    routes: [tellAddress],
    trustedProxies: ['127.0.0.1', '10.0.0.1'],
  })
  const answer = await fetch(new URL('/who', open.mcp), { headers: { 'x-forwarded-for': header } })
  expect(await answer.text()).toBe(address)
})
