#!/usr/bin/env node
// The launcher. Plain JavaScript for any Node from 18 on: it finds the Node that came with the package and goes on there.
//
// How it goes on depends on what the old Node can do:
//  - it has process.execve (22.15, 23.11): the process is replaced. Same pid, same descriptors, nothing stays behind.
//  - it has not (18, 20, Windows): a child with our stdin, stdout and stderr, signals passed on, exit code passed back.
//    The child holds the other end of a pipe to us. When we are killed the pipe closes and the child ends itself.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { findRuntime, isNewEnough, missingRuntime } from './runtime.js'

/** Set for the child: the descriptor that closes when the launcher is gone. */
const LIFELINE = 'PARLEY_LIFELINE_FD'
const LIFELINE_FD = 3
/** How long the child may take to shut down in order once its launcher is gone. */
const ORPHAN_GRACE_MS = 10_000
/** How often we look whether the shell of an npm script is still there. */
const PARENT_POLL_MS = 500
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP']

const self = fileURLToPath(import.meta.url)

if (isNewEnough()) await run()
else relaunch()

async function run() {
  holdLifeline()
  watchScriptShell()
  const { main } = await import('../packages/cli/src/main.ts')
  process.exitCode = await main(process.argv.slice(2))
}

function holdLifeline() {
  const fd = Number(process.env[LIFELINE])
  delete process.env[LIFELINE]
  if (fd !== LIFELINE_FD) return
  const lifeline = new Socket({ fd, readable: true, writable: false })
  lifeline.unref()
  lifeline.on('error', () => undefined)
  lifeline.on('close', endInOrder)
  lifeline.resume()
}

/** npm runs a script in a shell, and a signal to npm ends that shell without reaching us: `npm start` must not leave us behind. */
function watchScriptShell() {
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return
  const shell = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(watch)
    endInOrder()
  }, PARENT_POLL_MS)
  watch.unref()
}

function endInOrder() {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), ORPHAN_GRACE_MS).unref()
  process.kill(process.pid, 'SIGTERM')
}

function relaunch() {
  const runtime = findRuntime(self)
  if (runtime === undefined) {
    process.stderr.write(`${missingRuntime()}\n`)
    process.exitCode = 1
    return
  }
  const argv = [self, ...process.argv.slice(2)]
  if (typeof process.execve === 'function' && process.platform !== 'win32') {
    process.removeAllListeners('warning')
    process.execve(runtime, [runtime, ...argv], process.env)
  }
  const child = spawn(runtime, argv, {
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    env: { ...process.env, [LIFELINE]: String(LIFELINE_FD) },
  })
  forwardSignals(child)
  child.on('error', (error) => {
    process.stderr.write(`cannot run ${runtime}: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    process.exit(signal === null ? (code ?? 1) : 128 + constants.signals[signal])
  })
}

/** Each signal once. A terminal sends Ctrl-C to both of us already, and a second one would mean "at once". */
function forwardSignals(child) {
  for (const signal of FORWARDED) {
    let passed = signal === 'SIGINT' && process.stdin.isTTY
    process.on(signal, () => {
      if (passed) return
      passed = true
      child.kill(signal)
    })
  }
}
