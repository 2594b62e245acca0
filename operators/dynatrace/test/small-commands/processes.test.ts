/** The small commands of containers as processes: exit codes, files and how little they load. */
import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url))
const RECORDER = path('../support/record-modules.mjs')
const OPERATOR = path('../../bin/dynatrace-operator.js')

/** Runs the command with a strict umask; returns its outcome and what it loaded beyond the command line. */
async function run(...args: readonly string[]) {
  const script = 'umask 077 && exec "$0" "$@"'
  const child = spawn('sh', ['-c', script, process.execPath, '--import', RECORDER, OPERATOR, ...args])
  child.stdin.end()
  const [stdout, recorded, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('exit', resolve)),
  ])
  const lines = recorded.split('\n')
  const urls: readonly string[] = JSON.parse(lines.pop() ?? '')
  const own = ['/operators/dynatrace/', '/packages/cli/', '/node_modules/commander/']
  const foreign = urls.filter((url) => url.startsWith('file:') && !own.some((part) => url.includes(part)))
  return { code, stdout, stderr: lines.join('\n').trimEnd(), foreign }
}

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'small-commands-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const modeOf = async (file: string) => ((await stat(file)).mode & 0o777).toString(8)

describe('generate-metadata', () => {
  it('writes a file that all may read, in folders that all may enter', async () => {
    const file = join(folder, 'a', 'b', 'node.properties')
    const { code, stdout, stderr, foreign } = await run(
      'generate-metadata',
      '--file',
      file,
      '--attributes',
      ' k=v , x=y=z ',
    )
    expect([code, stdout, stderr]).toEqual([0, '', ''])
    expect(await readFile(file, 'utf8')).toBe('k=v\nx=y=z\n')
    expect(await Promise.all([file, dirname(file), dirname(dirname(file))].map(modeOf))).toEqual(['644', '755', '755'])
    expect(foreign).toEqual([])
  })

  it('replaces a file and does not change the folder', async () => {
    const file = join(folder, 'node.properties')
    await writeFile(file, 'something longer than what comes\n', { mode: 0o600 })
    expect((await run('generate-metadata', '--file', file, '--attributes', 'k=v')).code).toBe(0)
    expect([await readFile(file, 'utf8'), await modeOf(file), await modeOf(folder)]).toEqual(['k=v\n', '644', '700'])
    expect(await readdir(folder)).toEqual(['node.properties'])
  })

  it('fails on an invalid attribute, names it and writes nothing', async () => {
    const file = join(folder, 'node.properties')
    const { code, stderr } = await run('generate-metadata', '--file', file, '--attributes', 'foo')
    expect([code, stderr]).toEqual([1, expect.stringContaining('foo')])
    expect(await readdir(folder)).toEqual([])
  })

  it('fails when the file cannot be written, and leaves nothing behind', async () => {
    const { code, stderr } = await run('generate-metadata', '--file', folder, '--attributes', 'k=v')
    expect([code, stderr]).toEqual([1, expect.stringContaining(folder)])
    expect(await readdir(dirname(folder))).not.toContainEqual(expect.stringContaining(`${folder.split('/').at(-1)}.`))
  })

  it.each([
    ['--attributes', ['--file', '/dev/null']],
    ['--file', ['--attributes', 'k=v']],
  ])('does not do without %s', async (option, args) => {
    const { code, stderr } = await run('generate-metadata', ...args)
    expect([code, stderr]).toEqual([64, expect.stringContaining(option)])
  })
})

describe('startup-probe', () => {
  it('fails with one line without a cluster, and loads the command line only', async () => {
    const { code, stdout, stderr, foreign } = await run('startup-probe', '--timeout', '60')
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^dynatrace-operator: kubernetes\.default\.svc could not be resolved: .*$/)
    expect(foreign).toEqual([])
  })
})
