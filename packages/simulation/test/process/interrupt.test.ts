import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))
const WAIT = { timeout: 50_000, interval: 50 }

let folder: string
let exploration: ChildProcess | undefined
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-interrupt-'))
  await mkdir(join(folder, 'tmp'))
})
afterEach(async () => {
  exploration?.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

/** An operator that does nothing but wait, as a shell and its child; `onTerm` is what it does with the stop signal. */
function operator(onTerm: string): string {
  return `trap '${onTerm}' TERM; sleep 600 & echo $! > child; echo $$ > started; while :; do wait; sleep 0.1; done`
}

async function explore(command: string) {
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'notes.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Note', plural: 'notes', singular: 'note', listKind: 'NoteList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  }
  const note = { apiVersion: 'example.com/v1', kind: 'Note', metadata: { name: 'a', namespace: 'default' } }
  const scenario = { operator: { command }, install: [crd], steps: [{ apply: note }], settled: { patience: '20m' } }
  await writeFile(join(folder, 'scenario.yaml'), JSON.stringify(scenario))
  const started = spawn(process.execPath, [cli, '--scenario', 'scenario.yaml'], {
    cwd: folder,
    env: { ...process.env, TMPDIR: join(folder, 'tmp') },
  })
  exploration = started
  const output = { out: '', err: '' }
  started.stdout.on('data', (chunk) => {
    output.out += chunk
  })
  started.stderr.on('data', (chunk) => {
    output.err += chunk
  })
  const ended = new Promise<number | null>((resolve) => started.once('close', resolve))
  await expect.poll(() => existsSync(join(folder, 'started')), WAIT).toBe(true)
  return { output, ended, interrupt: () => started.kill('SIGINT') }
}

/** Whether the shell and its child still run. */
async function isRunning(): Promise<boolean> {
  const pids = await Promise.all(['started', 'child'].map((name) => readFile(join(folder, name), 'utf8')))
  return pids.some((pid) => {
    try {
      return process.kill(Number(pid), 0) && !isZombie(Number(pid))
    } catch {
      // There is no such process.
      return false
    }
  })
}

/** A process that has ended, until the system's first process has noticed, which may take a while. */
function isZombie(pid: number): boolean {
  const path = `/proc/${pid}/stat`
  return existsSync(path) && /\) Z /.test(readFileSync(path, 'utf8'))
}

describe('an exploration that is interrupted', () => {
  it('stops the operator, reports what it found so far and removes its files', async () => {
    const { output, ended, interrupt } = await explore(operator('echo > stopped; exit 0'))
    interrupt()
    expect(await ended).toBe(130)
    expect(existsSync(join(folder, 'stopped'))).toBe(true)
    expect(output.err).toContain('interrupted: stopping the operator')
    expect(output.out).toContain('0 divergences')
    expect(await readdir(join(folder, 'tmp'))).toEqual([])
    await expect.poll(isRunning, WAIT).toBe(false)
  })

  it('kills an operator that ignores the stop signal', async () => {
    const { ended, interrupt } = await explore(operator('echo > ignored'))
    interrupt()
    expect(await ended).toBe(130)
    expect(existsSync(join(folder, 'ignored'))).toBe(true)
    expect(await readdir(join(folder, 'tmp'))).toEqual([])
    await expect.poll(isRunning, WAIT).toBe(false)
  })

  it('ends at once when it is interrupted again', async () => {
    const { output, ended, interrupt } = await explore(operator('echo > ignored'))
    interrupt()
    await expect.poll(() => output.err, WAIT).toContain('once more ends everything at once')
    interrupt()
    expect(await ended).toBe(130)
    expect(await readdir(join(folder, 'tmp'))).toEqual([])
    await expect.poll(isRunning, WAIT).toBe(false)
  })
})
