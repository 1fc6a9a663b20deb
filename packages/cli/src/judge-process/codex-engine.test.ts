import { createServer } from 'node:net'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type JobId, type JsonObject, Report } from '@parley/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { peerOrSkip } from '../../../../scripts/peers/peer-or-skip.ts'
import { type CodexJudge, type Step, lastOutput, openCodexJudge, run, say, use } from '../fixture/codex-judge.ts'

/** `1.in` with `1 2` and `1.out` with `3`, stored. */
const TESTS_ZIP =
  'UEsDBBQAAAAAAAAAIQBXuztcBAAAAAQAAAAEAAAAMS5pbjEgMgpQSwMEFAAAAAAAAAAhANGeZ1UCAAAAAgAAAAUAAAAxLm91dDMKUEsBAhQDFAAAAAAAAAAhAFe7O1wEAAAABAAAAAQAAAAAAAAAAAAAAIABAAAAADEuaW5QSwECFAMUAAAAAAAAACEA0Z5nVQIAAAACAAAABQAAAAAAAAAAAAAAgAEmAAAAMS5vdXRQSwUGAAAAAAIAAgBlAAAASwAAAAAA'
const WORD = 'wort-8dbe1f'
const SUM = 'print(sum(map(int, input().split())))'
const solution = (main: string): Step => say(JSON.stringify({ main, solution_idea: 'add', complexity: 'O(1)' }))
/** Holds as many connections to the way out as it can, each unfinished, and opens another for each that is closed. */
const FLOOD = `
import os, select, socket, sys
HEAD = b'POST /v1/responses HTTP/1.1\\r\\nhost: x\\r\\ncontent-type: application/json\\r\\ncontent-length: 33000000\\r\\n\\r\\n'
WORDS = [b'', b'POST /v1/resp', HEAD, HEAD + b'x' * 500000]
held, opened = [], 0
while True:
    while len(held) < 200:
        s = socket.socket(socket.AF_UNIX if opened % 2 else socket.AF_INET)
        s.settimeout(1)
        try:
            s.connect(sys.argv[1] if opened % 2 else ('127.0.0.1', 8177))
            s.setblocking(False)
            s.send(WORDS[opened // 2 % 4])
            held.append(s)
        except OSError:
            s.close()
        opened += 1
    with open('opened', 'a') as told:
        told.write(f'{opened}\\n')
    ended = set(select.select(held, [], [], 0.1)[0])
    for s in ended:
        s.close()
    held = [s for s in held if s not in ended]
`
/** Codex, compilers and a crowded machine. */
const SLOW = { timeout: 240_000 }

const peer = await peerOrSkip('codex-0.166')
const codexPath = peer?.bin('codex') ?? ''
let world: CodexJudge

beforeAll(async () => {
  if (peer !== undefined) world = await openCodexJudge(codexPath)
}, SLOW.timeout)
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
}, SLOW.timeout)

async function submit(model: string, more: JsonObject = {}, at = world): Promise<JobId> {
  const { job_id } = await at.gateway.call('job.create', {
    statement_md: 'Add two numbers.',
    language: 'python',
    time_limit_ms: 60_000,
    tests_zip_b64: TESTS_ZIP,
    model,
    ...more,
  })
  return job_id
}

test.skipIf(peer === undefined)(
  'a job on Codex: its model calls the three tools of the status server, repairs in the same conversation, and a subscriber sees it all',
  SLOW,
  async () => {
    world.play('watched', [
      use('status.update', { stage: 'plan', summary: 'reads the statement' }),
      use('agent.delta', { stage: 'coding', kind: 'reasoning_summary_delta', delta: 'adding should do' }),
      run('ls; cat statement.md; echo from-the-box'),
      solution('print(0)'),
      use('judge.self_test', { source: SUM }),
      solution(SUM),
    ])
    const job_id = await submit('watched')
    const seen: JsonObject[] = []
    const watcher = await world.listen((method, params) => void seen.push({ method, ...params }))
    await watcher.callTool('job.subscribe', { job_id, streams: ['agent_status', 'terminal'] })
    await world.gateway.call('job.start', { job_id })
    const state = await world.gateway.ended(job_id)
    expect(state).toMatchObject({ status: 'succeeded', attempt: 2, error: null })
    await expect.poll(() => JSON.stringify(seen)).toContain('"stage":"done"')
    await watcher.close()
    const lines = seen.filter(({ method }) => method === 'agent_status').map(({ item }) => item)
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ stage: 'plan', summary: 'reads the statement', seq: expect.any(String) }),
        expect.objectContaining({ kind: 'reasoning_summary_delta', delta: 'adding should do' }),
        expect.objectContaining({ summary: 'tests itself' }),
      ]),
    )
    expect(await world.gateway.log(job_id, 'terminal')).toContain('from-the-box')
    expect(world.violations).toEqual([])
    // The second attempt went on where the first stood, with another key and another process.
    const asked = world.requests.filter(({ body }) => body['model'] === 'watched').map(({ body }) => body)
    expect(new Set(asked.map((body) => body['prompt_cache_key'])).size).toBe(1)
    expect(JSON.stringify(asked.at(-1)?.['input'])).toContain('print(0)')
    const { items } = await world.gateway.call('job.get_artifacts', { job_id, names: ['main.py', 'report.json', 'usage.json'] })
    expect(items['main.py']).toBe(SUM)
    expect(Report.parse(items['report.json'])).toMatchObject({ status: 'succeeded', summary: { passed: 1 } })
    expect(items['usage.json']).toMatchObject({ calls: asked.length, estimated_calls: 0 })
  },
)

test.skipIf(peer === undefined)(
  'a hostile model gets nothing, also not of a job beside it; cancel ends that one',
  SLOW,
  async () => {
    const { gateway, judgeData, upstreamKey } = world
    world.play('waiting', [run('echo began; sleep 1000')])
    const beside = await submit('waiting', { statement_md: `The word of another job is ${WORD}.` })
    await gateway.call('job.start', { job_id: beside })
    await expect.poll(() => gateway.log(beside, 'agent_status')).toContain('sleep 1000')
    const host = createServer((socket) => void socket.end('host-service'))
    host.listen(0, '127.0.0.1')
    await once(host, 'listening')
    const address = host.address()
    const hostPort = typeof address === 'object' && address !== null ? address.port : 0
    const outputs: string[] = []
    const tried =
      (cmd: string): Step =>
      (request) => {
        outputs.push(lastOutput(request))
        return run(cmd)(request)
      }
    const web = (path: string, more = ''): string =>
      `curl -s -m 3 --path-as-is ${more} -o /dev/stderr -w 'status-%{http_code}\\n' http://127.0.0.1:8177${path} 2>&1`
    const foreign = `-H 'content-type: application/json' -H 'authorization: Bearer stolen' -d '{"model":"watched","input":[]}'`
    const places = [`127.0.0.1/${hostPort}`, `127.0.0.1/${new URL(gateway.url).port}`, '1.1.1.1/53']
    world.play('hostile', [
      tried('env; cat /proc/self/environ /proc/1/environ; cat $CODEX_HOME/config.toml'),
      tried(
        `find ${judgeData} -maxdepth 5 -not -path '*/codex/*'; ls -A ${world.scratch.folder} /home /run; find /root -maxdepth 2 -printf 'home:%p\n' 2>&1; find ${judgeData} /tmp -name '*.sock'`,
      ),
      tried('ps axww -o pid,args; ls /proc/1/root/ /proc/1/fd; kill -9 1'),
      tried(['/mcp', '/api/auth/me', '/v1/../mcp', '/v1/chat/completions', '/no-mcp'].map((path) => web(path)).join('; ')),
      tried(`${web('/v1/responses', foreign)}; for at in ${places.join(' ')}; do (exec 3<>/dev/tcp/$at && cat <&3) 2>&1; done`),
      tried('touch /etc/x /usr/x /x ../x ../../x; unshare -n true; mount -t tmpfs x /mnt'),
      (request) => {
        outputs.push(lastOutput(request))
        return solution(SUM)(request)
      },
    ])
    const job_id = await submit('hostile')
    await gateway.call('job.start', { job_id })
    expect(await gateway.ended(job_id)).toMatchObject({ status: 'succeeded' })
    host.close()
    const [, env = '', files = '', processes = '', routes = '', wires = '', writes = ''] = outputs
    expect(outputs).toHaveLength(7)
    const everything = outputs.join('\n')
    const secrets = [gateway.token, upstreamKey, WORD, 'host-service']
    for (const secret of secrets) expect(everything).not.toContain(secret)
    // The key of the attempt is not inside at all.
    expect(everything).not.toMatch(/mdl_\w|API_KEY/)
    expect(env).toMatch(/CODEX_HOME=/)
    // Of the judge's data there is what the job has of its own, and its two sockets.
    expect(files).toContain(`/jobs/${job_id}`)
    expect(files.match(/jobs\/\w+/g)?.filter((name) => !name.includes(job_id))).toEqual([])
    expect(files).not.toMatch(/\/input|\/logs|\/output|\/inputs|data\\n/)
    // Of somebody's home there is at most the way to the Codex that runs.
    const home = [...files.matchAll(/home:(\/[^\\]*)/g)].map(([, path = '']) => path)
    expect(home.filter((path) => !codexPath.startsWith(path))).toEqual([])
    if (home.length === 0) expect(files).toMatch(/\/root.*No such file/)
    expect(
      files
        .match(/\/\S+?\.sock/g)
        ?.map((path) => path.split('/').at(-1))
        .toSorted(),
    ).toEqual(['model.sock', 'status-1.sock'])
    expect(processes).not.toMatch(/vitest|sleep 1000/)
    expect(routes.match(/status-\d+/g)).toEqual(['status-404', 'status-404', 'status-404', 'status-404', 'status-403'])
    expect(wires).toMatch(/model_not_found.*status-404/s)
    expect(wires.match(/refused|unreachable/g)).toHaveLength(6)
    expect(writes.match(/Read-only file system|not permitted|must be superuser/g)).toHaveLength(7)
    const said = `${await gateway.log(job_id, 'agent_status')}${await gateway.log(job_id, 'terminal')}${world.logged.join('')}`
    for (const secret of secrets) expect(said).not.toContain(secret)
    expect(world.codexes()).not.toEqual([])
    await gateway.call('job.cancel', { job_id: beside })
    await expect.poll(() => world.codexes()).toEqual([])
    expect(await gateway.ended(beside)).toMatchObject({ status: 'cancelled' })
  },
)

test.skipIf(peer === undefined)(
  'beside a program in the box that floods the way out and its socket, Codex goes on to the end of its job',
  SLOW,
  async () => {
    const { gateway } = world
    const outputs: string[] = []
    const seen =
      (step: Step): Step =>
      (request) => {
        outputs.push(lastOutput(request))
        return step(request)
      }
    // Waits until more was opened than before; the first time, until as much as can be is open.
    const more = `from=$(tail -n 1 opened || echo 200); until [ "$(tail -n 1 opened)" -gt "$from" ]; do sleep 0.1; done; cat flood.log; echo it goes on`
    world.play('flooding', [
      run(`cat > flood.py <<'END'${FLOOD}END
(setsid python3 flood.py "$(find ${world.judgeData} -name model.sock 2>/dev/null)" > flood.log 2>&1 &)
${more}`),
      ...Array.from({ length: 5 }, () => seen(run(more))),
      seen(solution(SUM)),
    ])
    const job_id = await submit('flooding')
    await gateway.call('job.start', { job_id })
    expect(await gateway.ended(job_id)).toMatchObject({ status: 'succeeded', attempt: 1 })
    expect(outputs).toHaveLength(6)
    expect(outputs.join()).toContain('it goes on')
    await expect.poll(() => world.codexes()).toEqual([])
  },
)

test.skipIf(peer === undefined)('a Codex that is killed in a turn fails the attempt with a code and a report', SLOW, async () => {
  const { gateway } = world
  world.play('killed', [run('echo began; sleep 1000')])
  const job_id = await submit('killed')
  await gateway.call('job.start', { job_id })
  await expect.poll(() => gateway.log(job_id, 'agent_status')).toContain('sleep 1000')
  for (const pid of world.codexes()) process.kill(pid, 'SIGKILL')
  expect(await gateway.ended(job_id)).toMatchObject({ status: 'failed', error: { code: 'engine_lost' } })
  const { items } = await gateway.call('job.get_artifacts', { job_id, names: ['report.json'] })
  expect(Report.parse(items['report.json'])).toMatchObject({ error: { code: 'engine_lost' } })
  await expect.poll(() => world.codexes()).toEqual([])
})

test.skipIf(peer === undefined)('the same judge writes with mini where a job asks for it', SLOW, async () => {
  const { gateway } = world
  world.play('mini-too', [solution(SUM)])
  const job_id = await submit('mini-too', { engine: 'mini' })
  await gateway.call('job.start', { job_id })
  expect(await gateway.ended(job_id)).toMatchObject({ status: 'succeeded', engine: 'mini' })
  expect(world.codexes()).toEqual([])
})

test.skipIf(peer === undefined)(
  'a model that is asked in another way than Codex asks is refused, with the reason',
  SLOW,
  async () => {
    const job_id = await submit('chatty')
    await world.gateway.call('job.start', { job_id })
    expect(await world.gateway.ended(job_id)).toMatchObject({
      status: 'failed',
      error: { code: 'engine_missing', message: expect.stringContaining('Chat Completions') },
    })
  },
)

test.skipIf(peer === undefined)(
  'kill -9 of a judge leaves no Codex and no key behind, and another judge goes on in the same conversation',
  SLOW,
  async () => {
    // Its judges are its own: the others' jobs must not get to them.
    await using own = await openCodexJudge(codexPath)
    const { gateway, scratch } = own
    await own.stopJudge()
    const start = (name: string) =>
      scratch.start(
        ['judge', '--url', gateway.ws, '--name', name, '--engine', 'codex', '--data', join(scratch.folder, name), '--json'],
        { env: { PARLEY_JUDGE_TOKEN: gateway.token, PARLEY_CODEX: codexPath } },
      )
    const first = await start('first')
    own.play('moved', [solution('print(0)'), run('echo began; sleep 1000'), solution(SUM)])
    const job_id = await submit('moved', {}, own)
    await gateway.call('job.start', { job_id })
    await expect.poll(() => gateway.log(job_id, 'agent_status')).toContain('sleep 1000')
    process.kill(first.pid, 'SIGKILL')
    await expect.poll(() => own.codexes()).toEqual([])
    expect(leftIn(join(scratch.folder, 'first'))).not.toMatch(/mdl_\w/)
    await start('second')
    expect(await gateway.ended(job_id)).toMatchObject({ status: 'succeeded', attempt: 2, claims: 2 })
    const asked = own.requests.filter(({ body }) => body['model'] === 'moved').map(({ body }) => body)
    expect(new Set(asked.map((body) => body['prompt_cache_key'])).size).toBe(1)
    expect(JSON.stringify(asked.at(-1)?.['input'])).toContain('print(0)')
  },
)

/** All that is written in a folder. */
function leftIn(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1')).join('\n')
}
