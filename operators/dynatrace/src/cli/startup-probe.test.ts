import { describe, expect, it } from 'vitest'
import { probeDns } from './startup-probe.ts'
import { resolveWithSystem } from './system-resolver.ts'
import { runCli } from './testing/run-cli.ts'

describe('the startup probe', () => {
  it('is content with one address', async () => {
    expect(await probeDns(1_000, async () => ['10.96.0.1'])).toBeUndefined()
  })

  it('resolves the API server by its name in pods', async () => {
    const asked: string[] = []
    await probeDns(1_000, async (host) => {
      asked.push(host)
      return []
    })
    expect(asked).toEqual(['kubernetes.default.svc'])
  })

  it('is not content without addresses', async () => {
    expect(await probeDns(1_000, async () => [])).toContain('has no address')
  })

  it('passes on why a name could not be resolved', async () => {
    const failing = async () => {
      throw new Error('ENOTFOUND')
    }
    expect(await probeDns(1_000, failing)).toContain('could not be resolved: ENOTFOUND')
  })

  it('fails at its timeout', async () => {
    const hanging = (_host: string, signal: AbortSignal) =>
      new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
    expect(await probeDns(1, hanging)).toContain('timeout')
  })

  it.each(['0', '-1', '1.5', 'soon', '99999'])('requires whole seconds, not %s', async (timeout) => {
    const { code, stderr } = await runCli(['startup-probe', `--timeout=${timeout}`])
    expect([code, stderr]).toEqual([64, expect.stringContaining('whole number of seconds')])
  })
})

describe('the resolver of the system', () => {
  it('knows the machine itself', async () => {
    const addresses = await resolveWithSystem('localhost', AbortSignal.timeout(60_000))
    expect(addresses.some((address) => ['127.0.0.1', '::1'].includes(address))).toBe(true)
  })

  it('stops waiting for a response at the given deadline', async () => {
    const reason = new Error('enough')
    await expect(resolveWithSystem('localhost', AbortSignal.abort(reason))).rejects.toBe(reason)
  })

  it('reports an unknown name', async () => {
    // Names must not contain spaces, so no server is called.
    const answer = resolveWithSystem('no such name', AbortSignal.timeout(60_000))
    await expect(answer).rejects.toThrow(/^E[A-Z_]+$/)
  })
})
