import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, vi } from 'vitest'

const reeve = fileURLToPath(new URL('../../../cli/bin/reeve.js', import.meta.url))
const WAIT = { timeout: 50_000, interval: 50 }

/** An operator that does nothing but wait, as a shell and its child; `onTerm` is what it does with the stop signal. */
function operator(onTerm: string): string {
  return `trap '${onTerm}' TERM; sleep 600 & echo $! > child; echo $$ > started; while :; do wait; sleep 0.1; done`
}

async function explore(command: string) {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-interrupt-'))
  await mkdir(join(folder, 'tmp'))
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
  const started = spawn(process.execPath, [reeve, 'explore', '--scenario', 'scenario.yaml'], {
    cwd: folder,
    env: { ...process.env, TMPDIR: join(folder, 'tmp') },
  })
  const output = { out: '', err: '' }
  started.stdout.on('data', (chunk) => {
    output.out += chunk
  })
  started.stderr.on('data', (chunk) => {
    output.err += chunk
  })
  const ended = new Promise<number | null>((resolve) => started.once('close', resolve))
  const exploration = {
    output,
    ended,
    interrupt: () => started.kill('SIGINT'),
    hasWritten: (name: string) => existsSync(join(folder, name)),
    leftFiles: () => readdir(join(folder, 'tmp')),
    isRunning: () => isRunning(folder),
    async [Symbol.asyncDispose]() {
      started.kill('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
  await vi.waitUntil(() => exploration.hasWritten('started'), WAIT)
  return exploration
}

/** Whether the shell and its child still run. */
async function isRunning(folder: string): Promise<boolean> {
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

// They mostly wait for processes, each for its own.
describe.concurrent('an exploration that is interrupted', () => {
  it('stops the operator, reports what it found so far and removes its files', async () => {
    await using exploration = await explore(operator('echo > stopped; exit 0'))
    exploration.interrupt()
    expect(await exploration.ended).toBe(130)
    expect(exploration.hasWritten('stopped')).toBe(true)
    expect(exploration.output.err).toContain('interrupted: ending the runs')
    expect(exploration.output.out).toContain('0 divergences')
    expect(await exploration.leftFiles()).toEqual([])
    await vi.waitUntil(async () => !(await exploration.isRunning()), WAIT)
  })

  it('kills an operator that ignores the stop signal', async () => {
    await using exploration = await explore(operator('echo > ignored'))
    exploration.interrupt()
    expect(await exploration.ended).toBe(130)
    expect(exploration.hasWritten('ignored')).toBe(true)
    expect(await exploration.leftFiles()).toEqual([])
    await vi.waitUntil(async () => !(await exploration.isRunning()), WAIT)
  })

  it('ends at once when it is interrupted again', async () => {
    await using exploration = await explore(operator('echo > ignored'))
    exploration.interrupt()
    await vi.waitUntil(() => exploration.output.err.includes('once more ends everything at once'), WAIT)
    exploration.interrupt()
    expect(await exploration.ended).toBe(130)
    expect(await exploration.leftFiles()).toEqual([])
    await vi.waitUntil(async () => !(await exploration.isRunning()), WAIT)
  })
})
