import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { type Server, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Box, BoxProfile, RunOutcome, Sandbox } from '../index.ts'
import { ROOMY, type Scratch, scratch, shell, textOf } from '../testing/scratch.ts'

/** Only root can have the first. */
const TIERS = (['root', 'user-namespaces'] as const).slice(process.getuid?.() === 0 ? 0 : 1)
const OF_THE_HOST = '/srv /opt /var/lib /var/log /home /root /run /mnt /media /sys /boot /etc/shadow /etc/ssh /etc/hostname'
const DEVICES = '/dev/null /dev/zero /dev/full /dev/random /dev/urandom'
const ABSTRACT = `parley-reach-${process.pid}`

let from: Scratch
/** Not below /tmp, where a box has its own. */
let place: string
let work: string
let servers: Server[]

beforeAll(async () => {
  from = await scratch()
  place = realpathSync(mkdtempSync('/var/tmp/parley-reach-'))
  chmodSync(place, 0o755)
  work = join(place, 'work')
  for (const folder of ['work/state', 'work/sub/data', 'beside', 'tools/private'])
    mkdirSync(join(place, folder), { recursive: true })
  for (const file of ['work/state/secret', 'work/sub/data/secret', 'beside/secret', 'tools/private/secret', 'tools/tool'])
    writeFileSync(join(place, file), 'told')
  writeFileSync(join(place, 'beside/config'), 'told', { mode: 0o600 })
  symlinkSync('work/state', join(place, 'data'))
  symlinkSync('loop', join(place, 'loop'))
  symlinkSync('work', join(place, 'way'))
  servers = await Promise.all(
    [join(work, 'host.sock'), join(place, 'tools/host.sock'), `\0${ABSTRACT}`].map(async (path) => {
      const server = createServer((socket) => void socket.end('told'))
      server.listen(path.startsWith('\0') ? { path } : { path, writableAll: true })
      await once(server, 'listening')
      return server
    }),
  )
})
afterAll(async () => {
  for (const server of servers) server.close()
  rmSync(place, { recursive: true, force: true })
  await from[Symbol.asyncDispose]()
})

const errors = (outcome: RunOutcome): string => Buffer.from(outcome.stderr.bytes).toString()
const workspace = (more: Partial<Extract<BoxProfile, { kind: 'workspace' }>> = {}): BoxProfile => ({
  kind: 'workspace',
  folder: work,
  hidden: [join(place, 'data'), join(work, 'sub/data'), join(place, 'tools/private')],
  readable: [join(place, 'tools')],
  writable: true,
  ...more,
})
const dial = (path: string): string =>
  `python3 -c "import socket; s = socket.socket(socket.AF_UNIX); s.connect(${path}); print(s.recv(9))"`
/** A pair of datagrams needs nobody's leave to be made, and could be sent to any address after. */
const send = (path: string): string =>
  `python3 -c "import socket; a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.sendto(b'x', ${path}); print('sent')"`
const SENDS = [`'log.sock'`, `'../tools/log.sock'`, String.raw`'\0${ABSTRACT}'`].map(send).join('; ')
/** What is connected for good still works. */
const PAIRS = `python3 -c "import socket
for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
  a, b = socket.socketpair(socket.AF_UNIX, kind); a.send(b'told'); print(b.recv(9))"`
const DIALS = [`'host.sock'`, `'../tools/host.sock'`, String.raw`'\0${ABSTRACT}'`].map(dial).join('; ')

describe.each(TIERS)('a working folder in the tier %s', (tier) => {
  let sandbox: Sandbox
  let box: Box
  beforeAll(async () => {
    sandbox = await from.open({ tier })
    box = await sandbox.openBox(workspace())
  })
  afterAll(() => box.close())

  test('says that it is held', () => {
    expect(sandbox.unheldWorkspace).toBeUndefined()
    expect(sandbox.report.enforced['workspace']).toMatch(/^an allow-list/)
  })

  test('shows nothing of the host but what is named', async () => {
    const files = `${place}/beside/secret ${place}/beside/config`
    const outcome = await box.run(shell(`ls -d ${OF_THE_HOST}; cat ${files} ../beside/*; cat ../tools/tool; echo; ls -A ..`))
    expect(textOf(outcome)).toBe('told\ntools\nwork\n')
    expect(errors(outcome).match(/No such file/g)?.length).toBe(OF_THE_HOST.split(' ').length + 3)
    const top = textOf(await box.run(shell('ls -A /')))
      .trim()
      .split('\n')
    expect(top).toEqual(expect.arrayContaining(['bin', 'box', 'dev', 'etc', 'lib', 'proc', 'tmp', 'usr', 'var']))
    expect(top.filter((name) => OF_THE_HOST.split(' ').includes(`/${name}`))).toEqual([])
  })

  test('hides what is hidden by its real path, also in what is shown', async () => {
    const outcome = await box.run(
      shell(`cat state/secret ${place}/data/secret sub/data/secret ${place}/tools/private/secret; ls -A state sub/data`),
    )
    expect(textOf(outcome)).toBe('state:\n\nsub/data:\n')
    const moved = await box.run(shell('mv sub other; mv state other; rmdir sub/data; rm -rf state; mkdir -p sub/data'))
    expect(errors(moved).match(/busy|Read-only/g)?.length).toBe(4)
    await using next = await sandbox.openBox(workspace())
    expect(textOf(await next.run(shell('cat state/secret sub/data/secret; ls -d sub')))).toBe('sub\n')
  })

  test('reaches no socket of the host, by a file or by a name', async () => {
    const outcome = await box.run(shell(DIALS))
    expect([textOf(outcome), errors(outcome).match(/PermissionError/g)?.length]).toEqual(['', 3])
  })

  test('sends nothing to a socket of the host, also through a pair', async () => {
    const outcome = await box.run(shell(SENDS))
    expect([textOf(outcome), errors(outcome).match(/PermissionError/g)?.length]).toEqual(['', 3])
    await using online = await sandbox.openBox(workspace({ network: 'host' }))
    const sent = await online.run(shell(SENDS))
    expect([textOf(sent), errors(sent).match(/PermissionError/g)?.length]).toEqual(['', 3])
    expect(textOf(await box.run(shell(PAIRS)))).toBe("b'told'\nb'told'\n")
  })

  test('reaches its one way out by a port, and no socket of the host, that one neither', async () => {
    const way = { kind: 'proxy', port: 41_001, socketPath: join(place, 'tools/host.sock'), localSockets: false } as const
    await using online = await sandbox.openBox(workspace({ network: way }))
    const talk = `python3 -c "import socket; print(socket.create_connection(('127.0.0.1', 41001)).recv(9))"`
    const outcome = await online.run(shell(`${talk}; ${DIALS}; ${SENDS}; ${PAIRS}`))
    expect(textOf(outcome)).toBe("b'told'\n".repeat(3))
    expect(errors(outcome).match(/PermissionError/g)?.length).toBe(6)
  })

  test('leaves no file that lends the rights of its owner', async () => {
    const bits = [
      'chmod 4755 lent',
      'chmod 2755 lent',
      'chmod u+s,g+s lent',
      'cp --preserve=mode /usr/bin/passwd lent',
      'mkdir -m 2755 lent-folder',
    ]
    const more = `python3 -c "import os; os.open('lent-too', os.O_CREAT | os.O_WRONLY, 0o6755)"; mknod device c 1 3; mknod zero c 0 0`
    const outcome = await box.run(shell(`cp /bin/true lent; ${[...bits, more].join('; ')}`))
    expect(errors(outcome)).toMatch(/Operation not permitted/)
    expect(statSync(join(work, 'lent')).mode & 0o6000).toBe(0)
    for (const name of ['lent-too', 'device', 'zero']) expect([name, existsSync(join(work, name))]).toEqual([name, false])
    expect(existsSync(join(work, 'lent-folder')) ? statSync(join(work, 'lent-folder')).mode & 0o6000 : 0).toBe(0)
  })

  test('changes no setting of the machine', async () => {
    const outcome = await box.run(
      shell('for f in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /proc/self/oom_score_adj; do echo x > $f; done'),
    )
    expect(errors(outcome).match(/Read-only|nonexistent|Permission|No such/g)?.length).toBe(3)
  })

  test('changes no device of the host, and uses them', async () => {
    // With the mode and the times that they have: were it let, the machine would be none the worse.
    const change = 'chmod "$(stat -c %a $d)" $d && echo $d; touch -c -r $d $d && echo $d'
    const outcome = await box.run(
      shell(`for d in ${DEVICES}; do ${change}; done; echo x > /dev/null && head -c 2 /dev/zero | wc -c`),
    )
    expect(textOf(outcome)).toBe('2\n')
  })

  test('works by the path that was given, through links', async () => {
    await using other = await sandbox.openBox(workspace({ folder: join(place, 'way') }))
    expect(textOf(await other.run(shell(`pwd; cd ${place}/way && ls -d sub`)))).toBe(`${work}\nsub\n`)
  })

  test.each<[string, () => Partial<Extract<BoxProfile, { kind: 'workspace' }>>, RegExp]>([
    ['a hidden path that cannot be resolved', () => ({ hidden: [join(place, 'loop')] }), /too many links/],
    [
      'a hidden path that a program could make',
      () => ({ hidden: [join(work, 'later')] }),
      /later is to be hidden and is not there/,
    ],
    ['a readable path that is not there', () => ({ readable: [join(place, 'nothing')] }), /nothing is not there/],
    ['a folder that is hidden itself', () => ({ hidden: [work] }), /cannot be worked in/],
    ['the whole machine', () => ({ folder: '/', hidden: [] }), /the whole machine/],
    ['the whole machine to read', () => ({ readable: ['/'] }), /the whole machine/],
  ])('is refused with %s', async (_what, more, why) => {
    await expect(sandbox.openBox(workspace(more()))).rejects.toMatchObject({
      code: 'sandbox_unavailable',
      message: expect.stringMatching(why),
    })
  })

  test('runs what people run in one', async () => {
    const folder = join(place, `project-${tier}`)
    mkdirSync(folder)
    execFileSync('git', ['init', '-q', folder])
    writeFileSync(join(folder, 'Makefile'), 'all: a\n\t./a\na: a.c\n\tcc -o a a.c\n')
    writeFileSync(join(folder, 'a.c'), '#include <stdio.h>\nint main(void) { puts("made"); }\n')
    writeFileSync(join(folder, 'package.json'), '{"scripts":{"test":"node -e \\"console.log(6*7)\\""}}')
    const node = realpathSync(process.execPath)
    await using project = await sandbox.openBox({ kind: 'workspace', folder, writable: true, readable: [node] })
    const script = `git status --short; python3 -c 'print(1 + 1)'; make -s; ${node} -e 'console.log(require("os").tmpdir())'; npm test -s; perl -e 'print "perl\\n"'; whoami; ls /etc/ssl/certs | head -1 | wc -l`
    const limits = {
      ...ROOMY,
      cpuMs: 60_000,
      wallMs: 60_000,
      memoryBytes: 1024 * 1024 * 1024,
      openFiles: 256,
      boxBytes: 64 * 1024 * 1024,
    }
    const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/box', TMPDIR: '/tmp', LANG: 'C.UTF-8' }
    const outcome = await project.run({ ...shell(script), limits, environment })
    expect(textOf(outcome) + errors(outcome)).toBe('?? Makefile\n?? a.c\n?? package.json\n2\nmade\n/tmp\n42\nperl\nbox\n1\n')
  })
})

describe('a tier that cannot hold it', () => {
  test('lets nobody write, hides or refuses, and says so', async () => {
    const sandbox = await from.open({ tier: 'landlock' })
    expect(sandbox.unheldWorkspace).toMatch(/can take nothing out of them/)
    expect(sandbox.report.missing.join()).toContain('engines run no commands here')
    await expect(sandbox.openBox(workspace())).rejects.toMatchObject({ code: 'sandbox_unavailable' })
    await expect(sandbox.openBox(workspace({ writable: false }))).rejects.toThrow(/state lies in a folder that is shown/)
  })

  test('shows nothing but what is named to whoever only reads', async () => {
    const sandbox = await from.open({ tier: 'landlock' })
    await using box = await sandbox.openBox(workspace({ writable: false, hidden: [join(place, 'beside')] }))
    const outcome = await box.run(
      shell(
        `for p in ${OF_THE_HOST}; do cat $p; ls $p/; done; cat ${place}/beside/secret; cat ../tools/tool; echo no > made; ${DIALS}`,
      ),
    )
    expect(textOf(outcome)).toBe('told')
    expect(errors(outcome).match(/PermissionError/g)?.length).toBe(3)
    expect(existsSync(join(work, 'made'))).toBe(false)
  })

  test.runIf(existsSync('/usr/bin/bwrap'))('is bubblewrap too', async () => {
    const sandbox = await from.open({ driver: 'bwrap', runFolder: join(from.folder, 'bwrap') })
    expect(sandbox.unheldWorkspace).toMatch(/filters no system calls/)
    await expect(sandbox.openBox(workspace())).rejects.toMatchObject({ code: 'sandbox_unavailable' })
    await using box = await sandbox.openBox(workspace({ writable: false }))
    const outcome = await box.run(
      shell(
        `ls -d ${OF_THE_HOST}; cat ${place}/beside/secret state/secret sub/data/secret ../tools/private/secret; cat ../tools/tool`,
      ),
    )
    expect(textOf(outcome)).toBe('told')
  })
})
