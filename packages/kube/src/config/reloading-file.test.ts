/** Files that change while the process runs. */
import { rm } from 'node:fs/promises'
import { SimulatedClock } from '@reeve/http/testing'
import { describe, expect, it } from 'vitest'
import { CredentialsError } from '../errors.ts'
import { temporaryDirectory } from '../testing/temporary-directory.ts'
import { ReloadingFile } from './reloading-file.ts'

function open(path: string, clock: SimulatedClock, problems: Error[] = []) {
  return new ReloadingFile(path, { clock, maxAgeMs: 60_000, what: 'token', onProblem: (error) => problems.push(error) })
}

describe('ReloadingFile', () => {
  it('serves from memory for a minute and then reads again', async () => {
    await using directory = await temporaryDirectory()
    const clock = new SimulatedClock()
    const path = await directory.write('token', 'one\n')
    const file = open(path, clock)
    expect(await file.read()).toBe('one')
    await directory.write('token', 'two')
    await clock.advance(59_999)
    expect(await file.read()).toBe('one')
    await clock.advance(1)
    expect(await file.read()).toBe('two')
  })

  it('reads again immediately on request', async () => {
    await using directory = await temporaryDirectory()
    const file = open(await directory.write('token', 'one'), new SimulatedClock())
    await file.read()
    await directory.write('token', 'two')
    expect(await file.reread()).toBe('two')
  })

  it('keeps the last content while the file is missing or empty, and reports it', async () => {
    await using directory = await temporaryDirectory()
    const problems: Error[] = []
    const path = await directory.write('token', 'one')
    const file = open(path, new SimulatedClock(), problems)
    await file.read()
    await directory.write('token', '  \n')
    expect(await file.reread()).toBe('one')
    await rm(path)
    expect(await file.reread()).toBe('one')
    expect(problems.map(({ message }) => message)).toEqual([
      `${path}: the token file is empty`,
      `${path}: cannot read the token (ENOENT)`,
    ])
  })

  it('fails with the path when the file was never readable', async () => {
    await expect(open('/nowhere/token', new SimulatedClock()).read()).rejects.toThrow(CredentialsError)
    await expect(open('/nowhere/token', new SimulatedClock()).read()).rejects.toThrow(
      '/nowhere/token: cannot read the token (ENOENT)',
    )
  })
})
