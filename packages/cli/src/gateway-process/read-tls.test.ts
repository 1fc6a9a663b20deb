import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Scratch } from '../fixture/parley.ts'
import { readTls } from './read-tls.ts'

const scratch = new Scratch()
const at = (name: string): string => join(scratch.folder, name)

beforeAll(() => {
  const openssl = (...args: readonly string[]): Buffer => execFileSync('openssl', args, { cwd: scratch.folder, stdio: 'pipe' })
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1', '-subj', '/CN=localhost']
  openssl('req', '-x509', ...curve, '-keyout', 'key.pem', '-out', 'cert.pem')
  openssl('req', '-x509', ...curve, '-keyout', 'other-key.pem', '-out', 'other-cert.pem')
  openssl('pkcs8', '-topk8', '-in', 'key.pem', '-out', 'encrypted.pem', '-passout', 'pass:secret')
  openssl('ec', '-in', 'key.pem', '-out', 'encrypted-old.pem', '-aes256', '-passout', 'pass:secret')
  const [cert, key, other] = ['cert.pem', 'key.pem', 'other-cert.pem'].map((name) => readFileSync(at(name), 'utf8'))
  writeFileSync(at('chain.pem'), `${cert}${other}`)
  writeFileSync(at('both.pem'), `${key}${cert}`)
  writeFileSync(at('turned.pem'), `${other}${cert}`)
  writeFileSync(at('notes.pem'), 'buy milk\n')
  writeFileSync(at('cut.pem'), (cert ?? '').slice(0, 200))
})
afterAll(() => scratch[Symbol.asyncDispose]())

test.each([
  ['cert.pem', 'key.pem'],
  ['chain.pem', 'key.pem'],
  ['both.pem', 'both.pem'],
])('%s and %s are taken as they are', (tlsCert, tlsKey) => {
  const [cert, key] = [tlsCert, tlsKey].map((name) => readFileSync(at(name), 'utf8'))
  expect(readTls({ tlsCert, tlsKey }, scratch.folder)).toEqual({ cert, key })
})

test.each([
  ['key.pem', 'cert.pem', '--tls-cert key.pem holds a private key, not a certificate', 'the two are swapped'],
  ['key.pem', 'key.pem', '--tls-cert key.pem holds a private key, not a certificate', 'BEGIN CERTIFICATE'],
  ['notes.pem', 'key.pem', '--tls-cert notes.pem is not a certificate in PEM', 'BEGIN CERTIFICATE'],
  ['cut.pem', 'key.pem', '--tls-cert cut.pem is not a certificate in PEM', 'BEGIN CERTIFICATE'],
  ['cert.pem', 'cert.pem', '--tls-key cert.pem holds a certificate, not a private key', 'made with'],
  ['cert.pem', 'notes.pem', '--tls-key notes.pem is not a private key in PEM', 'BEGIN PRIVATE KEY'],
  ['cert.pem', 'encrypted.pem', '--tls-key encrypted.pem is encrypted', 'openssl pkey'],
  ['cert.pem', 'encrypted-old.pem', '--tls-key encrypted-old.pem is encrypted', 'openssl pkey'],
  ['cert.pem', 'other-key.pem', '--tls-cert cert.pem and --tls-key other-key.pem do not belong together', 'made with'],
  ['turned.pem', 'key.pem', '--tls-cert turned.pem and --tls-key key.pem do not belong together', 'comes first'],
])('--tls-cert %s --tls-key %s: %s', (tlsCert, tlsKey, message, hint) => {
  expect(() => readTls({ tlsCert, tlsKey }, scratch.folder)).toThrow(
    expect.objectContaining({
      code: 'tls_unreadable',
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
      exitCode: 1,
    }),
  )
})

test('a start with the two swapped says so and makes nothing', async () => {
  const tls = ['--tls-cert', at('key.pem'), '--tls-key', at('cert.pem')]
  const { code, err } = await scratch.run(['up', '--port', '0', '--data', scratch.data, ...tls, '--json'])
  expect({ code, said: JSON.parse(err) }).toMatchObject({ code: 1, said: { error: { code: 'tls_unreadable' } } })
  expect(() => readFileSync(join(scratch.data, 'secret'))).toThrow('ENOENT')
})
