import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { ApprovalDecision } from '../../approval.ts'
import { contractTest } from './contract-test.ts'
import { MODEL, type Conversing, converse } from './converse.ts'
import type { ContractHarness, ScriptedAnswer } from './harness.ts'
import { Recorder, turn } from './recorder.ts'

const TOUCH = { run: ['touch', 'touched.txt'] } as const
const PATCH = { patch: '*** Begin Patch\n*** Add File: patched.txt\n+x\n*** End Patch' } as const

/** What is asked, and what becomes of the answer. */
export function approvalContract(harness: ContractHarness): void {
  const test = contractTest(harness)
  const asking = (answers: readonly ScriptedAnswer[], decide: () => ApprovalDecision | Promise<ApprovalDecision>) =>
    converse(harness, { answers, recorder: new Recorder(decide), options: { approvals: 'always' } })
  const wasTouched = (c: Conversing): boolean => existsSync(join(c.folder, 'touched.txt'))

  describe('approvals', () => {
    test('an approved command runs, and asks for itself', async () => {
      await using c = await asking([[TOUCH], [{ say: 'ok' }]], () => 'approved')
      expect(await turn(c.conversation, 'touch')).toEqual({ kind: 'completed', message: 'ok' })
      const { request } = c.recorder.one('approval_requested')
      expect(c.recorder.asked).toEqual([request])
      expect(request).toMatchObject({ kind: 'command', folder: c.folder })
      expect(request.kind === 'command' ? request.argv.join(' ') : '').toContain('touch touched.txt')
      expect(c.recorder.one('approval_resolved')).toEqual({ type: 'approval_resolved', id: request.id, decision: 'approved' })
      expect(c.recorder.one('command_end')).toMatchObject({ call: request.call, status: 'completed' })
      expect(wasTouched(c)).toBe(true)
    })

    test('approved once is asked again, approved for the session is not', async () => {
      await using once = await asking([[TOUCH], [TOUCH], [{ say: 'ok' }]], () => 'approved')
      await turn(once.conversation, 'touch twice')
      expect(once.recorder.asked).toHaveLength(2)
      await using session = await asking([[TOUCH], [TOUCH], [{ say: 'ok' }]], () => 'approved_for_session')
      expect(await turn(session.conversation, 'touch twice')).toEqual({ kind: 'completed', message: 'ok' })
      expect(session.recorder.asked).toHaveLength(1)
      expect(session.recorder.all('command_end').map(({ status }) => status)).toEqual(['completed', 'completed'])
    })

    test('a denied command does not run; the model is told and goes on', async () => {
      await using c = await asking([[TOUCH], [{ say: 'then not' }]], () => 'denied')
      expect(await turn(c.conversation, 'touch')).toEqual({ kind: 'completed', message: 'then not' })
      expect(c.recorder.one('command_end')).toMatchObject({ status: 'declined', exitCode: null })
      expect(wasTouched(c)).toBe(false)
    })

    test('nobody who can answer is a denial', async () => {
      await using c = await asking([[TOUCH], [{ say: 'then not' }]], () => Promise.reject(new Error('gone home')))
      expect(await turn(c.conversation, 'touch')).toEqual({ kind: 'completed', message: 'then not' })
      expect(c.recorder.one('command_end').status).toBe('declined')
      expect(wasTouched(c)).toBe(false)
    })

    test('an abort ends the turn as interrupted; the next one works', async () => {
      await using c = await asking([[TOUCH], [{ say: 'fresh start' }]], () => 'abort')
      expect(await turn(c.conversation, 'touch')).toEqual({ kind: 'interrupted' })
      expect(c.recorder.one('command_end').status).not.toBe('completed')
      expect(wasTouched(c)).toBe(false)
      expect(await turn(c.conversation, 'go on')).toEqual({ kind: 'completed', message: 'fresh start' })
    })

    test('a patch is shown before it is applied, and a denial leaves the files alone', async () => {
      await using c = await asking([[PATCH], [{ say: 'then not' }]], () => 'denied')
      expect(await turn(c.conversation, 'patch')).toEqual({ kind: 'completed', message: 'then not' })
      const { request } = c.recorder.one('approval_requested')
      expect(request).toMatchObject({ kind: 'patch', changes: [{ kind: 'add', diff: expect.stringContaining('x') }] })
      expect(c.recorder.one('patch_end').status).toBe('declined')
      expect(existsSync(join(c.folder, 'patched.txt'))).toBe(false)
    })

    test('an approved patch is applied', async () => {
      await using c = await asking([[PATCH], [{ say: 'ok' }]], () => 'approved')
      expect(await turn(c.conversation, 'patch')).toEqual({ kind: 'completed', message: 'ok' })
      expect(existsSync(join(c.folder, 'patched.txt'))).toBe(true)
    })

    test('where approvals are never asked for, nothing is asked', async () => {
      const recorder = new Recorder(() => 'denied')
      await using c = await converse(harness, { answers: [[TOUCH, PATCH], [{ say: 'ok' }]], recorder })
      expect(await turn(c.conversation, 'both')).toEqual({ kind: 'completed', message: 'ok' })
      expect(recorder.asked).toEqual([])
      expect(wasTouched(c)).toBe(true)
      expect(c.world.heard(MODEL)).toHaveLength(2)
    })
  })
}
