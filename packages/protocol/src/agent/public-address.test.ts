import { expect, test } from 'vitest'
import { closedHost, isPublicAddress } from './public-address.ts'

const PUBLIC = ['1.1.1.1', '8.8.8.8', '100.63.255.255', '100.128.0.0', '172.15.0.1', '172.32.0.1', '223.255.255.255']
const PUBLIC_6 = ['2606:4700:4700::1111', '2a00:1450:4001::200e', '2001:4860:4860::8888']
const CLOSED = [
  ...[
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.9.9',
  ],
  ...[
    '192.0.0.8',
    '192.0.2.1',
    '192.168.1.1',
    '198.18.0.1',
    '203.0.113.7',
    '224.0.0.1',
    '239.1.1.1',
    '240.0.0.1',
    '255.255.255.255',
  ],
]
const CLOSED_6 = [
  ...[
    '::',
    '::1',
    'fe80::1',
    'fe80::1%lo',
    'fc00::1',
    'fd12:3456::1',
    'ff02::1',
    '::ffff:8.8.8.8',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
  ],
  ...[
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '2001:db8::1',
    '2001::1',
    '2002:7f00:1::',
    '3fff::1',
    '100::1',
    '::127.0.0.1',
    '5f00::1',
  ],
]
const NONE = ['', 'localhost', '127.1', '1.2.3', '0x7f000001', '2130706433', '1.1.1.1:80', '[::1]']

test.each([...PUBLIC, ...PUBLIC_6])('%s is public', (address) => expect(isPublicAddress(address)).toBe(true))
test.each([...CLOSED, ...CLOSED_6, ...NONE])('%j is not', (address) => expect(isPublicAddress(address)).toBe(false))

test.each([
  ['http://127.1:9/', '127.0.0.1'],
  ['http://[::1]/', '::1'],
  ['http://[::ffff:127.0.0.1]/', '::ffff:7f00:1'],
  ['http://LOCALHOST:1/', 'localhost'],
  ['http://a.localhost./', 'a.localhost.'],
  ['https://8.8.8.8/', undefined],
  ['https://localhost.example.com/', undefined],
  ['https://notlocalhost/', undefined],
])('%s names %s, which is not public', (url, host) => expect(closedHost(url)).toBe(host))
